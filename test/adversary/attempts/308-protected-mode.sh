# Only the mode changes.
chmod +x guarded.txt
