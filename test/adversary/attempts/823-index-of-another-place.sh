# The agent works with an index of its own, which the repository does not have, and commits from there.
# expect: out of reach: the working tree is judged, not the commit
touch red && GIT_INDEX_FILE=../index git read-tree HEAD && GIT_INDEX_FILE=../index git add red
t=$(GIT_INDEX_FILE=../index git write-tree) && rm red
git update-ref refs/heads/main "$(git commit-tree -p HEAD -m red $t)" && git push -q . HEAD:refs/remotes/origin/main
