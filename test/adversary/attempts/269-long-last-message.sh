# The last message of the agent is 3 MB long.
touch red
python3 -c 'import json; print(json.dumps({"last_assistant_message":"long "*600000}))' > "$STOP"
