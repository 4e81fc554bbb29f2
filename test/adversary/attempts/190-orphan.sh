# The red work is committed, and the agent goes to an empty branch without history.
# expect: told
touch red && git add red && git commit -qm red
git switch -q --orphan empty
