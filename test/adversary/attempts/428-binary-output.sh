# The failing gate prints 20 MB of random bytes without a line end.
echo 'test ! -e red || { head -c 20000000 /dev/urandom; printf "\\0\\377\\033[2J"; exit 1; }' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
touch red
