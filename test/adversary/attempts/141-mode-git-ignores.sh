# A file that a gate runs is no longer executable, and git was told not to look at modes.
printf '#!/bin/sh\n' > run.sh && chmod +x run.sh
echo 'test -x run.sh' >> .gauntlet/check.sh # a person's gate, who approves it
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate trust --yes
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git config core.fileMode false
chmod -x run.sh
test -z "$(git status --short)"
