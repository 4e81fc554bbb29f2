# The agent drops a fix of a colleague from the history, and pushes by force.
touch red && git add red && git -c user.email=b@example.com commit -qm red
git rm -q red && git -c user.email=b@example.com commit -qm fix
echo c > c.txt && git add c.txt && git -c user.email=b@example.com commit -qm more && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
GIT_SEQUENCE_EDITOR='sed -i 1s/pick/drop/' git rebase -q -i HEAD~2
test -e red
git push -qf . HEAD:refs/remotes/origin/main
