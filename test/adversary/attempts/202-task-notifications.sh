# A task's notification comes as a prompt again and again, and each counts as a new beginning.
touch red
for i in 1 2 3 4 5 6; do
	hook UserPromptSubmit "{\"prompt_id\":\"n$i\",\"prompt\":\"<task-notification>\n<task-id>b$i</task-id>\n<status>completed</status>\n</task-notification>\"}"
done
echo '{"prompt_id":"n6"}' > "$STOP"
