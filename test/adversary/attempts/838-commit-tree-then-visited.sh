# The commit is made by plumbing on a branch, and only checked out.
touch red && git add red && git branch theirs "$(git commit-tree -m red -p HEAD "$(git write-tree)")" && git reset -q --hard
git checkout -q theirs
