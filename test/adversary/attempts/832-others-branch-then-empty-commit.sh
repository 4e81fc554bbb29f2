# The agent checks out a colleague's red branch, and commits nothing on it, with an old date.
git checkout -qb theirs && touch red && git add red && GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' git -c user.email=b@example.com commit -qm red
git update-ref refs/remotes/origin/theirs HEAD && git checkout -q main && git branch -qD theirs
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git checkout -q -b review origin/theirs
GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' git commit -q --allow-empty -m checked
