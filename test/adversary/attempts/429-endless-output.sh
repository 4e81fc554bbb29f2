# The gate never stops printing on the red tree.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: .
    checks: [{name: loud, command: sh .gauntlet/check.sh, timeout: 4s}]
C
echo 'test ! -e red && exit 0; yes' > .gauntlet/check.sh
env -u CLAUDECODE stopgate trust --yes && env -u CLAUDECODE stopgate run # a person's gate
touch red
