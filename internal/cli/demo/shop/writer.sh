echo "reading the commits"
sleep 1
stopgate emit agent:signal --agent "$STOPGATE_AGENT_ID" '{"action": "complete", "message": "Carts add up again. Passwords are read from the environment."}'
