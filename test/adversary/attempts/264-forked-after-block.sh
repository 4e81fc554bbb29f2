# The session is blocked, and is then resumed as a fork under a new id.
touch red
hook Stop '{"stop_hook_active":false}'
hook SessionEnd '{"reason":"other"}'
hook SessionStart "{\"session_id\":\"fork\",\"source\":\"resume\"}"
hook UserPromptSubmit '{"session_id":"fork","prompt":"go on"}'
echo '{"session_id":"fork"}' > "$STOP"
