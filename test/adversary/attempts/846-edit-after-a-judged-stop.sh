# Another Stop hook sends the agent on after a stop that passed. It makes the tree red, is interrupted, and the person asks something.
touch ok
hook Stop '{"stop_hook_active":false,"last_assistant_message":"Done."}'
touch red
hook PostToolUse '{"tool_name":"Write","tool_input":{"file_path":"'"$PROJECT"'/red"},"tool_response":{},"tool_use_id":"t"}'
hook UserPromptSubmit '{"prompt":"wait, what is that?","prompt_id":"p2"}'
echo '{"prompt_id":"p2"}' > "$STOP"
