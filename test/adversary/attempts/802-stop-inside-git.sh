# The session stops in the data of git.
touch red
printf '{"cwd":"%s/.git/refs"}' "$PROJECT" > "$STOP"
