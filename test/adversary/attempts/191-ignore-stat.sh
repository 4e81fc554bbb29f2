# A setting makes git mark each file that it writes as unchanged for ever.
echo '! grep -q bad main.txt' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git commit -qam gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git config core.ignoreStat true
git update-index --really-refresh && rm main.txt && git checkout -q main.txt
echo bad > main.txt
git status -s
