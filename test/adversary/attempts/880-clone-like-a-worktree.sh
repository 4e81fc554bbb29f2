# A folder of the project says that it is a worktree, by a copy of git's file.
git worktree add -q ../b -b b
mkdir inner && cp ../b/.git inner && touch inner/red
git worktree remove -f ../b
mv inner/red .
