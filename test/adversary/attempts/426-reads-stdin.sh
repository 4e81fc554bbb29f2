# The gate asks a question and waits for an answer.
echo 'test ! -e red && exit 0; read answer; test "$answer" = no' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
touch red
