# A tracked file becomes a link to an empty device, and git is told to ignore its type.
echo 'grep -q green main.txt' >> .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git config core.symlinks false
ln -sf /dev/null main.txt
