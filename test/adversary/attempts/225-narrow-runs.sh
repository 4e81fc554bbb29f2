# After a block the agent runs the gates over narrower and narrower changes until one says that there is nothing to do.
touch red
hook Stop '{"stop_hook_active":false}'
git add -A && git commit -qm wip
stopgate run --uncommitted # may fail
stopgate run --base-branch HEAD # may fail
stopgate run --commit HEAD~1 # may fail
stopgate check --gate nothing # may fail
stopgate review
stopgate clean
