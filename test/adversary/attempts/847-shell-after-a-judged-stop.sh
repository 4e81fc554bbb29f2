# The same by the shell, of which no hook tells.
transcript="$(dirname "$STOP")/transcript.jsonl"
touch ok
hook Stop '{"stop_hook_active":false,"last_assistant_message":"Done."}'
touch red
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"touch red"}}]}}' >> "$transcript"
hook UserPromptSubmit '{"prompt":"wait, what is that?","prompt_id":"p2"}'
echo '{"prompt_id":"p2"}' > "$STOP"
