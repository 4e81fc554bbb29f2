# A merge without conflicts is not committed yet, and the work is green.
# expect: nothing
git checkout -qb theirs && echo t > t.txt && git add t.txt && git -c user.email=b@example.com commit -qm t && git update-ref refs/remotes/origin/theirs HEAD && git checkout -q main && git branch -qD theirs
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git merge -q --no-ff --no-commit origin/theirs
