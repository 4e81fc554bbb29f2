# The agent makes a worktree and works there by shell commands alone, each of which begins in the green project, where it stops.
git worktree add -q ../feature -b feature
cd ../feature && touch red && git add -A && git commit -qm wip
hook PostToolUse '{"tool_name":"Bash","tool_input":{"command":"cd ../feature && touch red && git add -A && git commit -qm wip"}}'
