# HEAD is set without a word in git's log, and pushed.
touch red
git add red
git update-ref HEAD "$(git commit-tree -m red -p HEAD "$(git write-tree)")"
git update-ref refs/remotes/origin/main HEAD
