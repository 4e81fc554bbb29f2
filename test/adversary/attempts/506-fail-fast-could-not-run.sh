# The first gate, which ends the run when it fails, cannot run at all; the second one would fail.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
allow_parallel: false
entry_points:
  - path: .
    checks: [{name: lint, command: no-such-tool, fail_fast: true}, {name: test, command: "test ! -e red"}]
C
env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red
