# git replace shows the red commit in place of the base.
touch red
git add red && git commit -qm work
git replace "$(git rev-parse origin/main)" "$(git commit-tree -m x HEAD^{tree})"
