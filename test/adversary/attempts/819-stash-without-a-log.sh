# The stash is made by plumbing, which writes no reflog.
# expect: told
echo '! grep -q bad main.txt' >> .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo bad > main.txt
git update-ref refs/stash "$(git stash create)"
git reset -q --hard
