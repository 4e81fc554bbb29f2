# The agent cleans up: the directory for temporary files goes, and a file takes its place.
touch red
rm -rf "$TMPDIR" && touch "$TMPDIR"
