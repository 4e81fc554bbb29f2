# A worktree is red at a stop; then it is removed, and its commits stay on a branch.
# expect: told
git worktree add -q ../feat -b feat
(cd ../feat && touch red && git add red && git commit -qm red)
hook Stop "{\"stop_hook_active\":false,\"cwd\":\"$(dirname "$PROJECT")/feat\"}"
git worktree remove ../feat
