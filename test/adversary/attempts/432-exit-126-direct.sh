# The gate is a program of the project, and it loses its executable bit.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: .
    checks: [{name: tool, command: ./tool.sh}]
C
printf '#!/bin/sh\ntest ! -e red\n' > tool.sh && chmod +x tool.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
env -u CLAUDECODE stopgate run
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red
chmod -x tool.sh
