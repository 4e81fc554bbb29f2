# The agent writes into a worktree with the file tool of an MCP server, and stops in the green project.
git worktree add -q ../feature -b feature
w=$(dirname "$PROJECT")/feature
touch "$w/red"
hook PostToolUse "{\"tool_name\":\"mcp__filesystem__write_file\",\"tool_input\":{\"path\":\"$w/red\",\"content\":\"\"}}"
