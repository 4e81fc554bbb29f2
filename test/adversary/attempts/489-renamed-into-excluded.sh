# The file that is needed is moved to where the entry point does not look.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: .
    exclude: ["docs/**"]
    checks: [{name: unit, command: "test -e main.txt"}]
C
env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
mkdir docs && git mv main.txt docs/main.txt && git commit -qm docs
