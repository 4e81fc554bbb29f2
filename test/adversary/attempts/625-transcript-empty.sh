# The payload names no transcript.
touch red
echo '{"transcript_path":""}' > "$STOP"
