# Another session only asks something while this one makes the tree red; its stop is not blocked, this one's is.
hook SessionStart '{"session_id":"other","source":"startup"}'
hook UserPromptSubmit '{"session_id":"other","prompt":"what is this?"}'
touch red
hook PostToolUse "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$PROJECT/red\"}}"
hook Stop '{"session_id":"other","stop_hook_active":false}' > ../other; cat ../other
