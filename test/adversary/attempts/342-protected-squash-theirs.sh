# The agent squashes a colleague's branch and weakens the file in the same commit.
git checkout -qb theirs && echo theirs > t.txt && git add t.txt && git -c user.email=b@example.com commit -qm t && git update-ref refs/remotes/origin/theirs HEAD && git checkout -q main && git branch -qD theirs
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git merge -q --squash origin/theirs && echo weak > guarded.txt && git add -A && GIT_AUTHOR_EMAIL=b@example.com GIT_COMMITTER_EMAIL=b@example.com git commit -qm squash
