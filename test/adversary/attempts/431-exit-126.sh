# The agent's rewrite of a script loses its executable bit, so the gate ends with 126.
printf '#!/bin/sh\ntest ! -e red\n' > tool.sh && chmod +x tool.sh
echo './tool.sh' > .gauntlet/check.sh && cp .gauntlet/check.sh .gauntlet/outer.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
env -u CLAUDECODE stopgate run
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
printf '#!/bin/sh\ntrue\n' > t && mv t tool.sh
