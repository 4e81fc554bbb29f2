# The red commit is kept under a ref other than branches and tags, and the branch goes back to where it was.
# expect: out of reach: tools keep such refs to commits that were amended or undone, for their own undo
touch red && git add red && git commit -qm red
git update-ref refs/keep/x HEAD
git reset -q --hard HEAD~
