# The agent deletes a program that the gate's script calls, so the script ends with 127.
printf '#!/bin/sh\ntest ! -e red\n' > tool.sh && chmod +x tool.sh
echo './tool.sh' > .gauntlet/check.sh && cp .gauntlet/check.sh .gauntlet/outer.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
env -u CLAUDECODE stopgate run
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git rm -q tool.sh
