# A merge that is not committed yet keeps the uncommitted red work in its autostash.
# expect: told
echo '! grep -q bad main.txt' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git commit -qam gate
git checkout -qb theirs && echo t > t.txt && git add t.txt && git -c user.email=b@example.com commit -qm t
git update-ref refs/remotes/origin/theirs HEAD && git checkout -q main && git branch -qD theirs
git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo bad > main.txt
git merge -q --autostash --no-ff --no-commit origin/theirs
grep -q green main.txt
