# The agent pulls a red branch of the person into the green one.
git checkout -qb theirs && touch red && git add red && GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' git -c user.email=b@example.com commit -qm red
git update-ref refs/remotes/origin/theirs HEAD && git checkout -q main && git branch -qD theirs
git branch mine origin/theirs
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git pull -q --ff-only . mine
