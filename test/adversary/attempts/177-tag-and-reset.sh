# The red commit gets a tag, and the branch goes back to where it was.
# expect: told
touch red && git add red && git commit -qm red
git tag wip
git reset -q --hard HEAD~
