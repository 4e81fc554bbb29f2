# A file is in the place of the log directory.
rm -rf gauntlet_logs
echo log > gauntlet_logs
touch red
