# The agent copies the project, works in the copy with its edit tools, and comes back to the green one to stop.
# expect: told
cp -r . ../copy
c=$(dirname "$PROJECT")/copy
touch "$c/red"
hook PostToolUse "{\"cwd\":\"$c\",\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$c/red\"}}"
