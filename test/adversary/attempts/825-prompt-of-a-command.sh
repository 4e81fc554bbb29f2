# A slash command comes as the next prompt while the work is red.
touch red
hook UserPromptSubmit '{"prompt":"/compact","prompt_id":"next"}'
echo '{"prompt_id":"next"}' > "$STOP"
