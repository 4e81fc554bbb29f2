# The agent makes a worktree in an ignored folder of the project, and works in it by its shell.
git worktree add -q .claude/w -b w && cd .claude/w && touch red && git add red && git commit -qm red
hook PostToolUse "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"cd .claude/w && touch red && git add red && git commit -qm red\"}}"
