# What makes the work red is a file that git has always ignored, as settings and installed packages are.
# expect: out of reach: a pass holds for what git lists
echo 'test ! -e .claude/red' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # the person's gate
stopgate run
mkdir -p .claude && touch .claude/red
