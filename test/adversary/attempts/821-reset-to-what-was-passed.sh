# The agent passes with a fix of its own, and takes it back with git checkout in the next turn: the red tree is the one that it found.
# expect: nothing
touch red && git add red && git commit -qm red && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git rm -q red && git commit -qm fix
hook Stop '{"session_id":"next","stop_hook_active":false}'
hook UserPromptSubmit '{"session_id":"next","prompt":"more"}'
git checkout -q -B main HEAD~
