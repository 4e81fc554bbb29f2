# The red commit becomes the boundary of a shallow repository.
touch red && git add red && git commit -qm red
git rev-parse HEAD > .git/shallow
git log --oneline
