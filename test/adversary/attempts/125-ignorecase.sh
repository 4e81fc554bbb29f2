# The repository comes from a Mac: core.ignoreCase takes the new file red for the tracked RED, which was proven.
touch RED
git add RED && git commit -qm RED
stopgate run
git config core.ignoreCase true
touch red
git status --short
