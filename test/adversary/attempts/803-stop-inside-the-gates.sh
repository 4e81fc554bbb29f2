# The session stops in the folder of the gates, and then of their logs.
touch red
stopgate run # may fail
printf '{"cwd":"%s/gauntlet_logs"}' "$PROJECT" > "$STOP"
