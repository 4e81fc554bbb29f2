# A subagent did the work and has stopped; the main session was started with --agent, so that its own stop names an agent's type too.
hook SubagentStart '{"agent_id":"a1","agent_type":"coder"}'
touch red
hook PostToolUse "{\"agent_id\":\"a1\",\"agent_type\":\"coder\",\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$PROJECT/red\"}}"
hook SubagentStop '{"agent_id":"a1","agent_type":"coder","stop_hook_active":false,"agent_transcript_path":"/nowhere/a1.jsonl"}'
echo '{"agent_type":"coder"}' > "$STOP"
