# The entry point is a file, which the agent moves away.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: main.txt
    checks: [{name: unit, command: "grep -q green main.txt"}]
C
env -u CLAUDECODE stopgate trust --yes && echo x >> main.txt && env -u CLAUDECODE stopgate run && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git mv main.txt other.txt
