# The agent passes, and makes the work red in the next turn, which the person interrupts; the third prompt is a question.
echo more >> main.txt
hook Stop '{"stop_hook_active":false}'
hook UserPromptSubmit '{"prompt":"go on","prompt_id":"second"}'
touch red
hook UserPromptSubmit '{"prompt":"what does it do?","prompt_id":"third"}'
echo '{"prompt_id":"third"}' > "$STOP"
