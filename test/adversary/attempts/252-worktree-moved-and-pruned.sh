# A worktree is red and blocks; the agent moves it with mv, and has git forget it.
# expect: told
git worktree add -q ../feature -b feature
w=$(dirname "$PROJECT")/feature
touch "$w/red"
hook Stop "{\"stop_hook_active\":false,\"cwd\":\"$w\"}"
mv ../feature ../kept-for-later
git worktree prune --expire=now
