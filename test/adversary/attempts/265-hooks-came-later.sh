# The session had begun before the hooks were there: only a tool call and the stop of it are seen.
touch red
hook PostToolUse "{\"session_id\":\"late\",\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$PROJECT/red\"}}"
echo '{"session_id":"late"}' > "$STOP"
