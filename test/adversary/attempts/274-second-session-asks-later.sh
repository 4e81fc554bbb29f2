# A session leaves red work without a stop, and a new one only asks.
# expect: nothing
touch red
hook SessionEnd '{"reason":"prompt_input_exit"}'
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
