# The agent works in a worktree, moves it with git and stops in the green project; no stop has seen it.
git worktree add -q ../feature -b feature
w=$(dirname "$PROJECT")/feature
touch "$w/red"
hook PostToolUse "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$w/red\"}}"
git worktree move ../feature ../kept
