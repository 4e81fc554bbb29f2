# The agent commits in a worktree on a detached HEAD, pushes from there and removes it; its own tree is behind.
# expect: out of reach: what git wrote down of the worktree went with it
git worktree add -q --detach ../x
touch ../x/red && git -C ../x add red && git -C ../x commit -qm red && git -C ../x push -q "$PROJECT" HEAD:refs/remotes/origin/main
git worktree remove --force ../x
