# A process of the agent's makes the work red between a stop and the next prompt, and the client does not know of it.
# expect: out of reach: what changes between a stop and the next prompt is a person's
echo more >> main.txt
hook Stop '{"stop_hook_active":false}'
touch red # by nohup, at or tmux
hook UserPromptSubmit '{"prompt":"thanks","prompt_id":"next"}'
echo '{"prompt_id":"next"}' > "$STOP"
