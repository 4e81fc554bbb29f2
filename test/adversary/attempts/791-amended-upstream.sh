# The agent amends the commit of a colleague with its red file and pushes by force.
echo b > b.txt && git add b.txt && GIT_COMMITTER_EMAIL=b@example.com git commit -qm theirs --author 'B <b@example.com>' && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red && git add red && git commit -q --amend --no-edit --date=2020-01-01T00:00:00Z
git push -qf . HEAD:refs/remotes/origin/main
