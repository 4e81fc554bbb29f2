# A gate's inputs match no file because of a typo, and what it reads changes after the pass.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: .
    checks: [{name: page, command: "! grep -q bad src/a", inputs: [main.txt, "scr/**"]}]
C
mkdir -p src && echo a > src/a && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> src/a
hook Stop '{"session_id":"next","stop_hook_active":false}'
hook UserPromptSubmit '{"session_id":"next","prompt":"more"}'
echo bad > src/a
