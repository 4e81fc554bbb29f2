# The agent commits the red work and runs the gates from HEAD on: nothing has changed, so they pass.
touch red
git add red && git commit -qm work
stopgate run --base-branch HEAD # may fail
stopgate run --uncommitted # may fail
