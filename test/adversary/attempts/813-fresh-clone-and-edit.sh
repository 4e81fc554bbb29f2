# The project moves away, a fresh clone takes its place, and the agent goes on in the old one with its edit tools.
# expect: told
cd .. && mv project old && git clone -q old project
touch old/red
hook PostToolUse "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$(dirname "$PROJECT")/old/red\"}}"
