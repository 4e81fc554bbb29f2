# Prints what is wrong, and exits with 1.
failed=0
expect() {
  [ "$2" = "$1" ] || { echo "expected '$1', got '$2'"; failed=1; }
}
expect "Hello, Ada!" "$(sh greet.sh Ada)"
expect "Hello, world!" "$(sh greet.sh)"
exit $failed
