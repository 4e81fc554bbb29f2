# The agent clones the project, works in the clone, which nobody approved, and stops there.
# expect: told
git clone -q . ../clone
touch ../clone/red
hook PostToolUse "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$(dirname "$PROJECT")/clone/red\"}}"
echo "{\"cwd\":\"$(dirname "$PROJECT")/clone\"}" > "$STOP"
