# The session is resumed as a fork, under a new id.
touch red
hook SessionEnd '{"reason":"other"}'
echo '{"type":"user","sessionId":"session","message":{"role":"user","content":"do it"}}' > "$PROJECT/../../fork.jsonl"
hook SessionStart "{\"session_id\":\"fork\",\"source\":\"resume\",\"transcript_path\":\"$PROJECT/../../fork.jsonl\"}"
hook UserPromptSubmit '{"session_id":"fork","prompt":"go on"}'
echo '{"session_id":"fork"}' > "$STOP"
