# The agent makes a worktree of a colleague's red branch, and edits a file there that git was told not to look at.
git checkout -qb theirs && touch red && git add red && GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' git -c user.email=b@example.com commit -qm red
git update-ref refs/remotes/origin/theirs HEAD && git checkout -q main && git branch -qD theirs
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git worktree add -q ../look origin/theirs 2>/dev/null
cd ../look && git update-index --assume-unchanged main.txt && echo bad > main.txt
printf '{"session_id":"next","cwd":"%s"}' "$PWD" > "$STOP"
