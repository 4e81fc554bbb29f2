# The red work becomes the only commit of a new history, and the old branch is deleted.
git switch -q --orphan fresh && git reset -q --hard main && git checkout -q --orphan fresh2
touch red && git add -A && git commit -qm all
git branch -qM fresh2 main && git push -qf . HEAD:refs/remotes/origin/main
