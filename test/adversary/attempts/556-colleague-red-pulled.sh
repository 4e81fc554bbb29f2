# The agent only pulls, and what comes is red: a colleague's.
# expect: nothing
git checkout -qb theirs && touch red && git add red && git -c user.name=B -c user.email=b@example.com commit -qm t && git update-ref refs/remotes/origin/main HEAD && git checkout -q main && git branch -qD theirs
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git merge -q --ff-only origin/main
