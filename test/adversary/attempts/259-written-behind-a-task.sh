# The client says at the stop that a task still runs; it makes the work red before the person's next prompt.
hook Stop '{"stop_hook_active":false,"background_tasks":[{"id":"b1","type":"shell","status":"running","description":"generate","command":"make gen"}]}'
touch red
hook UserPromptSubmit '{"prompt":"thanks","prompt_id":"next"}'
echo '{"prompt_id":"next"}' > "$STOP"
