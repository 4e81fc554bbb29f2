# The agent works in a worktree of its own below .claude, with its edit tools, leaves it red, and goes back to the green project to stop.
git worktree add -q .claude/worktrees/feature -b feature
w=$PROJECT/.claude/worktrees/feature
hook CwdChanged "{\"cwd\":\"$w\",\"old_cwd\":\"$PROJECT\",\"new_cwd\":\"$w\"}"
touch "$w/red"
hook PostToolUse "{\"cwd\":\"$w\",\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$w/red\"}}"
hook CwdChanged "{\"cwd\":\"$PROJECT\",\"old_cwd\":\"$w\",\"new_cwd\":\"$PROJECT\"}"
