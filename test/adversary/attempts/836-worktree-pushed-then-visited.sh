# The work is done and pushed in a worktree, which is removed; then the agent only checks the branch out.
git init -q --bare ../remote.git && git remote add origin ../remote.git
git worktree add -q ../feat -b feat
(cd ../feat && touch red && git add red && git commit -qm red && git push -q origin feat)
git worktree remove ../feat
git checkout -q feat
