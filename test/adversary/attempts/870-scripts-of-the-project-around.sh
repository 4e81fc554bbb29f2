# A package that is a project of its own calls a script of the project around it, which the agent edits.
mkdir -p pkg/.gauntlet && cp .gauntlet/config.yml pkg/.gauntlet
sed -i 's|sh .gauntlet/[a-z]*.sh|sh ../.gauntlet/check.sh|' pkg/.gauntlet/config.yml
git add -A && git commit -qm pkg && git update-ref refs/remotes/origin/main HEAD
(cd pkg && env -u CLAUDECODE stopgate trust --yes)
echo true > .gauntlet/check.sh
touch pkg/red
printf '{"cwd":"%s"}' "$PROJECT/pkg" > "$STOP"
