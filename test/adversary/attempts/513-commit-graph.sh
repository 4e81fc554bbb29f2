# The caches of git about commits are damaged.
touch red && git add red && git commit -qm red && git commit-graph write --reachable && git repack -qad --write-bitmap-index
chmod +w .git/objects/info/commit-graph && printf garbage > .git/objects/info/commit-graph
rm -f .git/objects/pack/*.bitmap
