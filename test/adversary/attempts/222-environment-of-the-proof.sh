# The agent runs the gates by hand in an environment in which they are lenient, and the pass is to stand for the stop.
# expect: out of reach: a gate whose result depends on a variable names it under env
printf 'test -n "$SKIP_SLOW" || test ! -e red\n' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # the person wrote that, long ago
touch red
SKIP_SLOW=1 stopgate run
