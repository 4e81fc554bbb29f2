# A graft gives the red commit no parents.
touch red && git add red && git commit -qm red
mkdir -p .git/info && git rev-parse HEAD > .git/info/grafts
git log --oneline
