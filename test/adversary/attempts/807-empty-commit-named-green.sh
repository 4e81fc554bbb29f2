# The agent reverts its red commit and applies it again by cherry-pick, all pushed in between.
touch red && git add red && git commit -qm red && git push -q . HEAD:refs/remotes/origin/main
r=$(git rev-parse HEAD)
git revert --no-edit HEAD > /dev/null && git push -q . HEAD:refs/remotes/origin/main
hook Stop '{"stop_hook_active":false}'
hook UserPromptSubmit '{"prompt":"more"}'
git cherry-pick $r > /dev/null && git push -q . HEAD:refs/remotes/origin/main
