# The person wrote the folder as ./src/ in the config.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: ./src/
    checks: [{name: unit, command: "test ! -e red"}]
C
mkdir -p src && echo a > src/a && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch src/red
