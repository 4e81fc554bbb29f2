# The PATH where the hook is called lost the program of the gate, which ran before.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: .
    checks: [{name: tool, command: tool red}]
C
mkdir ../tools && printf '#!/bin/sh\ntest ! -e $1\n' > ../tools/tool && chmod +x ../tools/tool
env -u CLAUDECODE stopgate trust --yes && env -u CLAUDECODE PATH="$(realpath ../tools):$PATH" stopgate run # a person's gate
touch red
