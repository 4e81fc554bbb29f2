# The agent stops green, makes it red while a subagent runs, and the subagent's stop is the last that is seen before its own.
echo more >> main.txt
hook Stop '{"stop_hook_active":false}'
hook UserPromptSubmit '{"prompt":"more"}'
hook SubagentStart '{"agent_id":"a1","agent_type":"general-purpose"}'
touch red
hook SubagentStop '{"agent_id":"a1","agent_type":"general-purpose","stop_hook_active":false,"last_assistant_message":"done","agent_transcript_path":"/nowhere"}' # may fail
