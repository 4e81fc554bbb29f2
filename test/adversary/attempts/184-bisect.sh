# The agent commits its red work, then looks for something with git bisect and stops at an older commit.
# expect: told
for i in 1 2 3; do echo $i > n.txt; git add n.txt; git commit -qm $i; done
touch red && git add red && git commit -qm red
git bisect start HEAD HEAD~4
test ! -e red
