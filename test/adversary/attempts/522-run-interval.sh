# The person asks for gates once in ten minutes, and the tree becomes red after the first run: the setting allows it, and says so.
# expect: told
printf 'stop_hook: {run_interval_minutes: 10}\n' >> .gauntlet/config.yml && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> main.txt
hook Stop '{"session_id":"next","stop_hook_active":false}'
hook UserPromptSubmit '{"session_id":"next","prompt":"more"}'
touch red
