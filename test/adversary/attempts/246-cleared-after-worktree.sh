# A worktree is red and blocks; then /clear, and the new session stops in the green project.
git worktree add -q ../feature -b feature
w=$(dirname "$PROJECT")/feature
touch "$w/red"
hook PostToolUse "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$w/red\"}}"
hook Stop '{"stop_hook_active":false}'
hook SessionEnd '{"reason":"clear"}'
hook SessionStart '{"session_id":"second","source":"clear"}'
echo '{"session_id":"second","prompt_id":"p9"}' > "$STOP"
