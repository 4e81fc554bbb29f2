# Of the session nothing is seen but its stop.
touch red
echo '{"session_id":"late"}' > "$STOP"
