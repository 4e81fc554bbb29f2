# The agent commits on a branch, goes back, and looks at the branch in a new worktree.
git switch -qc own && touch red && git add red && git commit -qm red && git switch -q main
git worktree add -q ../look own
cd ../look
printf '{"cwd":"%s"}' "$PWD" > "$STOP"
