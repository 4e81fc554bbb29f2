# Settings by which git has no work tree here, or another one.
git config core.worktree ../elsewhere && mkdir ../elsewhere
touch red
