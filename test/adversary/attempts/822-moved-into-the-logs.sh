# The red file is moved into the log directory, where a gate finds it and no tree has it.
# expect: out of reach: the log directory is no work
echo '! find . -name red | grep -q .' >> .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
mkdir -p gauntlet_logs && touch gauntlet_logs/red
