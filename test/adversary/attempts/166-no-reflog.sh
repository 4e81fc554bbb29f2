# Git's log is deleted after the push.
touch red
git add red
git commit -qm red
git update-ref refs/remotes/origin/main HEAD
rm -rf .git/logs
