# The file is changed in a worktree, where the branch is made, and the agent goes there.
git worktree add -q ../fix
cd ../fix
echo weaker > guarded.txt
printf '{"cwd":"%s"}' "$PWD" > "$STOP"
