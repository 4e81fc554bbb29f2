# The agent makes an older worktree of the person red by shell commands alone.
# expect: out of reach: commands name the other worktrees of a repository for many reasons
git worktree add -q ../older -b older && touch -d '2 days ago' .git/worktrees/older/gitdir .git/worktrees/older ../older
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch ../older/red
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"cd ../older && touch red"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
