# The agent renames the folder of an entry point by case only.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: src
    checks: [{name: unit, command: "test ! -e red"}]
C
mkdir -p src && echo a > src/a && env -u CLAUDECODE stopgate trust --yes && env -u CLAUDECODE stopgate run # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git mv src Src && touch Src/red
