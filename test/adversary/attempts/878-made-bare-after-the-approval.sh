# The project was approved in a linked worktree. A script makes the repository look like a bare one, which has no project around it.
env -u CLAUDECODE stopgate trust --revoke --yes
git worktree add -q ../side -b side
(cd ../side && env -u CLAUDECODE stopgate trust --yes)
git config core.bare true && rm .git/index && touch red
