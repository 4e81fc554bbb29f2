# The repository has line ends that the user's setting would change, and the agent edits another file.
# expect: nothing
printf 'a\r\nb\r\n' > dos.txt && git add -A && git commit -qm dos && git update-ref refs/remotes/origin/main HEAD
git config core.autocrlf input
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> main.txt && git add main.txt && git commit -qm more
