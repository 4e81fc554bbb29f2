# The first gate uses up the deadline, so the second, which ran here before, is not started.
printf 'stop_hook: {deadline: 3s}\n' >> .gauntlet/config.yml
echo 'sleep 30' > .gauntlet/check.sh; echo 'test ! -e red' > .gauntlet/outer.sh; env -u CLAUDECODE stopgate trust --yes && env -u CLAUDECODE stopgate run -g second
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red
