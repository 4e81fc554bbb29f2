# The second gate is a formatter that rewrites the tree, after which the first would fail.
echo 'test -e red || { cat main.txt | grep -q again && touch red; true; }' > .gauntlet/outer.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo again >> main.txt
