# The agent makes an older worktree red by shell commands alone, each of which begins in the green project, where it stops.
git worktree add -q ../older # the person did
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch ../older/red && git -C ../older add -A && git -C ../older commit -qm x
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"touch ../older/red && git -C ../older add -A && git -C ../older commit -qm x"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
