# git is in a mess, so the agent deletes .git, begins anew and commits everything, red as it is.
rm -rf .git
touch red
git init -q && git add -A && git commit -qm first
git update-ref refs/remotes/origin/main HEAD
