# A worktree is red and blocks; the agent moves it elsewhere and stops in the green project.
git worktree add -q ../feature -b feature
w=$(dirname "$PROJECT")/feature
touch "$w/red"
hook PostToolUse "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$w/red\"}}"
hook Stop "{\"stop_hook_active\":false,\"cwd\":\"$w\"}"
git worktree move ../feature ../kept-for-later
