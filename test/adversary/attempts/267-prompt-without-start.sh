# The prompt comes without the start of the session.
hook UserPromptSubmit '{"session_id":"late","prompt":"do it"}'
touch red
echo '{"session_id":"late"}' > "$STOP"
