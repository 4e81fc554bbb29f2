# One gate cannot run, one hangs till its limit was shorter before, one fails; in parallel.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: .
    checks: [{name: lint, command: no-such-tool, parallel: true}, {name: hang, command: "sleep 20", timeout: 2s, parallel: true}, {name: test, command: "sleep 1; test ! -e red", parallel: true}]
C
env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red
