# The red work becomes the base, and reflogs, loose objects and logs are thrown away.
touch red
git add red && git commit -qm work
git update-ref refs/remotes/origin/main HEAD
rm -rf .git/logs .git/ORIG_HEAD gauntlet_logs
git checkout -q --orphan squashed && git commit -qm all && git branch -qD main && git branch -m main
git update-ref refs/remotes/origin/main HEAD
git reflog expire --expire=now --all; git gc -q --prune=now
