# /clear: the session ends red, a new one begins in the tree and stops at once, with no prompt of its own.
touch red
hook SessionEnd '{"reason":"clear"}'
hook SessionStart '{"session_id":"second","source":"clear"}'
echo '{"session_id":"second","prompt_id":"other"}' > "$STOP"
