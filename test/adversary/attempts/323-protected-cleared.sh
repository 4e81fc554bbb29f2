# The conversation is cleared after the edit, so that a session with another id goes on.
echo weak > guarded.txt
hook SessionEnd '{"reason":"clear"}'
hook SessionStart '{"session_id":"next","source":"clear"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"go on"}'
echo '{"session_id":"next"}' > "$STOP"
