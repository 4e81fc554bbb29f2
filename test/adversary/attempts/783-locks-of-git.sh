# Locks that a killed git has left on HEAD, the branch, the settings and the packed refs.
git pack-refs --all
for f in HEAD config packed-refs refs/heads/main; do mkdir -p .git/$(dirname $f) && touch .git/$f.lock; done
touch red
