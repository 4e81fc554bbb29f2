# The agent was started in a worktree that lies in the project, and makes the project red by a shell command.
git worktree add -q .claude/worktrees/own # the person did
w=$PROJECT/.claude/worktrees/own
hook SessionStart "{\"session_id\":\"next\",\"source\":\"startup\",\"cwd\":\"$w\"}"
hook UserPromptSubmit "{\"session_id\":\"next\",\"prompt\":\"do it\",\"cwd\":\"$w\"}"
touch ../project/red
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"touch ../../../../project/red"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
echo "{\"session_id\":\"next\",\"cwd\":\"$w\"}" > "$STOP"
