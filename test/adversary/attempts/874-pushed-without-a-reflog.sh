# Git writes no reflog here, and the work is committed and pushed.
git config core.logAllRefUpdates false && rm -rf .git/logs
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
touch red && git add red && git commit -qm red
git update-ref refs/remotes/origin/main HEAD
echo '{"session_id":"next"}' > "$STOP"
