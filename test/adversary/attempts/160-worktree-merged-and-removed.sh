# The work is done in a worktree, merged, pushed and the worktree removed, all in one turn.
git worktree add -q ../feat -b feat
(cd ../feat && touch red && git add red && git commit -qm red)
git merge -q feat
git worktree remove ../feat
git update-ref refs/remotes/origin/main HEAD
