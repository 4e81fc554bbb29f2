# A filter of the agent writes other bytes into the work tree than git has, and back.
echo 'grep -q green main.txt' >> .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git config filter.x.smudge 'sed s/green/bad/'
git config filter.x.clean 'sed s/bad/green/'
echo '*.txt filter=x' > .git/info/attributes
rm main.txt && git checkout -q main.txt
grep -q bad main.txt && git diff --quiet
