# The agent removes the remote, and with it the branch from which changes are counted.
touch red
git remote add origin https://example.com/x.git
hook Stop '{"stop_hook_active":false}'
git add -A && git commit -qm wip
git remote remove origin
git update-ref -d refs/remotes/origin/main
