# The agent looks into an older worktree while the person works there.
# expect: nothing
git worktree add -q ../older # the person did
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"what is in older?"}'
echo '{"session_id":"next"}' > "$STOP"
touch ../older/red # the person
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"ls ../older; git -C ../older log"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
