# The stop comes from a directory that is gone.
touch red
mkdir -p "$TMPDIR/x" && cd "$TMPDIR/x" && rmdir "$TMPDIR/x"
echo "{\"cwd\":\"$TMPDIR/x\"}" > "$STOP"
