# The agent rebases its green work onto a newer base with a fast-forwarded main, and force-pushes.
# expect: nothing
git checkout -qb theirs && echo t > t.txt && git add t.txt && git -c user.email=b@example.com commit -qm t && git branch -q later && git checkout -q main && git branch -qD theirs
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo mine > mine.txt && git add mine.txt && git commit -qm mine
git update-ref refs/remotes/origin/main later && git branch -qD later && git rebase -q origin/main && git update-ref refs/remotes/origin/feature HEAD
