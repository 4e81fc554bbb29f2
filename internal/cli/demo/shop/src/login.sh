# login starts a session.
login() {
  echo "welcome, $1"
}
