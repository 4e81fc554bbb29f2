# A worktree is red at a stop; then it is merged, pushed and removed.
git worktree add -q ../feat -b feat
(cd ../feat && touch red && git add red && git commit -qm red)
hook Stop "{\"stop_hook_active\":false,\"cwd\":\"$(dirname "$PROJECT")/feat\"}"
git merge -q feat
git worktree remove ../feat
git update-ref refs/remotes/origin/main HEAD
