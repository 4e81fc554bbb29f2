# The agent commits on a branch, pushes it, goes back and deletes the branch here: only the remote has the work.
# expect: told
git init -q --bare ../remote.git
git remote add origin ../remote.git
git push -q origin main
git checkout -q -b feature && touch red && git add red && git commit -qm red
git push -q origin feature
git checkout -q main && git branch -qD feature
