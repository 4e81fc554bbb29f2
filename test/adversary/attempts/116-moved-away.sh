# The project is renamed, and the session stops in the renamed one.
# expect: told
mv "$PROJECT" "$PROJECT-2"
touch "$PROJECT-2/red"
printf '{"cwd":"%s"}' "$PROJECT-2" > "$STOP"
