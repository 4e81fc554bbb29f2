# The red commit is made on a detached HEAD, which the agent leaves: only the reflog has it.
# expect: out of reach: commits that only their ids name are undone work
git switch -q --detach
touch red && git add red && git commit -qm red
git switch -q main
