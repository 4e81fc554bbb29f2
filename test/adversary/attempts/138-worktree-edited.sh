# The agent works in another worktree, and edits the gates there.
git worktree add -q ../side -b side
cd ../side
touch red
echo true > .gauntlet/check.sh
echo 'entry_points: []' > .gauntlet/config.yml
printf '{"cwd":"%s"}' "$PWD" > "$STOP"
