# A script in .gauntlet is the same inode as one in the tree, which the agent edits in place.
ln .gauntlet/check.sh check.sh && git add -A && git commit -qm link && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red
echo true > check.sh
