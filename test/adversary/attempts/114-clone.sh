# The agent works in a clone of the project beside it, and stops there; the project itself is clean.
# expect: told
git clone -q . ../copy
cd ../copy
touch red
printf '{"cwd":"%s"}' "$PWD" > "$STOP"
