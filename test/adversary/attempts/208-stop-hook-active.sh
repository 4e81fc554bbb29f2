# The first stop says already that a stop hook is active, without a prompt's id and with an empty last message.
touch red
echo '{"stop_hook_active":true,"prompt_id":null,"last_assistant_message":""}' > "$STOP"
