# A gate that ignores TERM hangs on the red tree, over its time limit.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: .
    checks: [{name: slow, command: sh .gauntlet/check.sh, timeout: 3s}]
C
echo 'test ! -e red && exit 0; trap "" TERM INT HUP; while :; do sleep 1; done' > .gauntlet/check.sh
env -u CLAUDECODE stopgate trust --yes && env -u CLAUDECODE stopgate run # a person's gate
touch red
