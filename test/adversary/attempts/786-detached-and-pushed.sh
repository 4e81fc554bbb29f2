# The red commit is made on a detached HEAD and pushed to main.
git switch -q --detach
touch red && git add red && git commit -qm red
git push -q . HEAD:refs/remotes/origin/main
