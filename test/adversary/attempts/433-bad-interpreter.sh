# An editor writes the script with CRLF, so its interpreter is not found.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: .
    checks: [{name: tool, command: ./tool.sh}]
C
printf '#!/bin/sh\ntest ! -e red\n' > tool.sh && chmod +x tool.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
env -u CLAUDECODE stopgate run
touch red
printf '#!/bin/sh\r\ntest ! -e red\r\n' > tool.sh
