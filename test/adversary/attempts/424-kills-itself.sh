# The gate is killed while it looks at the red tree, as by a lack of memory.
echo 'test ! -e red || kill -9 $$' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
touch red
