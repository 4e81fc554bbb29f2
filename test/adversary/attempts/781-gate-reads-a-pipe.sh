# A file that the gate reads becomes a pipe at whose other end nobody is.
sed -i 's|.sh}|.sh, timeout: 3}|' .gauntlet/config.yml
echo 'grep -q green main.txt' >> .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> guarded.txt
hook Stop '{"session_id":"next","stop_hook_active":false}'
rm main.txt && mkfifo main.txt
