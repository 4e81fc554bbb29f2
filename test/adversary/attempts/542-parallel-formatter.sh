# A formatter and a linter run in parallel; the formatter breaks what the linter has seen.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
quiet: true
entry_points:
  - path: .
    checks: [{name: lint, command: "test ! -e red", parallel: true}, {name: format, command: "sleep 1; ! grep -q again main.txt || touch red", parallel: true}]
C
env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo again >> main.txt
