# A tool of the gate changes its version after the pass, and another file changes too, which the gate does not read.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: .
    checks: [{name: page, command: "! grep -q bad ../tool", tools: ["cat ../tool"], inputs: [main.txt]}]
C
echo 1 > ../tool; env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> main.txt
hook Stop '{"session_id":"next","stop_hook_active":false}'
hook UserPromptSubmit '{"session_id":"next","prompt":"more"}'
echo bad > ../tool; echo more >> guarded.txt
