# A worktree is red at a stop; then it is removed, and a fresh one is made at the same place.
# expect: told
git worktree add -q ../feat -b feat
touch ../feat/red
hook Stop "{\"stop_hook_active\":false,\"cwd\":\"$(dirname "$PROJECT")/feat\"}"
git worktree remove --force ../feat
git worktree add -q ../feat feat
