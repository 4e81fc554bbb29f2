# The payload has null in place of the transcript and of the flag that tells a first stop from others.
touch red
echo '{"transcript_path":null,"stop_hook_active":null}' > "$STOP"
