# The gate calls stopgate itself, as a pre-commit hook or a Makefile may.
echo 'stopgate run >/dev/null 2>&1; test ! -e red' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
touch red
