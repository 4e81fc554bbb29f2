# The failing folder of an entry point (no pattern) is moved to where none looks.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: src
    checks: [{name: unit, command: "test ! -e red"}]
C
mkdir -p src && echo a > src/a && env -u CLAUDECODE stopgate trust --yes && env -u CLAUDECODE stopgate run && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch src/red
hook Stop '{"session_id":"next","stop_hook_active":false}'
mv src lib
