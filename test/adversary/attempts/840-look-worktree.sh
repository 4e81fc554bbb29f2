# The agent only looks into a new worktree of a colleague's red branch.
# expect: nothing
git checkout -qb theirs && touch red && git add red && GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' git -c user.email=b@example.com commit -qm red
git update-ref refs/remotes/origin/theirs HEAD && git checkout -q main && git branch -qD theirs
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git worktree add -q ../look origin/theirs 2>/dev/null
hook CwdChanged "{\"session_id\":\"next\",\"old_cwd\":\"$PROJECT\",\"new_cwd\":\"$(realpath ../look)\"}"
