# A subagent ends after the stop of the agent, which did not name it as a background task, and the work is committed then.
touch ok
hook Stop '{"stop_hook_active":false,"last_assistant_message":"Done."}'
touch red
hook SubagentStop '{"agent_id":"s1","agent_type":"general","stop_hook_active":false,"agent_transcript_path":"/x","last_assistant_message":"Done"}'
hook UserPromptSubmit '{"prompt":"commit it","prompt_id":"p2"}'
git add -A && git commit -qm red
echo '{"prompt_id":"p2"}' > "$STOP"
