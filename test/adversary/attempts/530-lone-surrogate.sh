# The agent's last message has half of a pair of surrogates, and fields that are new.
touch red
printf '{"last_assistant_message":"half \\ud83d and \\u0000 end","new_field":{"a":[1,2]},"permission_mode":"auto"}' > "$STOP"
