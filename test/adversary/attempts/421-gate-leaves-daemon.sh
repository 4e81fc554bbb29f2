# The gate leaves a server in the background that holds its output open, and fails.
echo 'sleep 100 & test ! -e red' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
touch red
