# A worktree is red and blocks; the agent deletes it, and leaves a link to the green project in its place.
git worktree add -q ../feature -b feature
w=$(dirname "$PROJECT")/feature
touch "$w/red"
hook Stop "{\"stop_hook_active\":false,\"cwd\":\"$w\"}"
rm -rf ../feature
ln -s project ../feature
