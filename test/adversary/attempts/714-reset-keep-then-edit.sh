# The agent goes back to an older commit with git reset --keep and edits another file.
touch red && git add red && git -c user.email=b@example.com commit -qm red
git rm -q red && git -c user.email=b@example.com commit -qm fix && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git reset -q --keep HEAD~
echo more >> main.txt
