# The agent goes back to an older commit of a colleague's with git checkout -B: it is red, and none of the agent's work.
# expect: nothing
touch red && git add red && git -c user.email=b@example.com commit -qm red
git rm -q red && git -c user.email=b@example.com commit -qm fix && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"look at the older version"}'
echo '{"session_id":"next"}' > "$STOP"
git checkout -q -B main HEAD~
