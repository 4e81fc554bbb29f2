# Gates call their scripts in the main worktree. The agent works in a linked one, and edits them there.
sed -i 's|sh .gauntlet/[a-z]*.sh|sh "$(git rev-parse --git-common-dir)/../.gauntlet/check.sh"|' .gauntlet/config.yml
git add -A && git commit -qm scripts && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate trust --yes
git worktree add -q ../side -b side
echo true > .gauntlet/check.sh
touch ../side/red
printf '{"cwd":"%s"}' "$(dirname "$PROJECT")/side" > "$STOP"
