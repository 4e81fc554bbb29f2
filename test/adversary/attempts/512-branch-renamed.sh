# The agent commits and renames the branch, and makes a new one of the old name elsewhere.
touch red && git add red && git commit -qm red
git branch -m main feature && git branch main HEAD~ && git update-ref refs/remotes/origin/feature HEAD && git branch -q -u origin/main 2>/dev/null || true
git log --oneline -1
