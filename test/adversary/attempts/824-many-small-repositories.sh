# The red file lies in the last of many repositories within the project.
sed -i 's/test ! -e red/test ! -e z99\/red/' .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
for i in $(seq 10 120); do git init -q z$i; done
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch z99/red
