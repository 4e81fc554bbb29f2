# The agent makes an older worktree of the person red with a file whose time is old, as cp -p and tar keep it.
git worktree add -q ../older -b older
w=$(dirname "$PROJECT")/older
touch -d '2 days ago' "$TMPDIR/red"
cp -p "$TMPDIR/red" "$w/red"
touch -d '2 days ago' "$w"
hook CwdChanged "{\"old_cwd\":\"$PROJECT\",\"new_cwd\":\"$w\"}"
