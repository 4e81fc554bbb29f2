# The worktree's own configuration names a file with the rule.
# expect: told
git config extensions.worktreeConfig true
touch -t 202001010000 .git/config
echo red > ../rules
touch -t 202001010000 ../rules
git config --worktree core.excludesFile "$PWD/../rules"
touch red
