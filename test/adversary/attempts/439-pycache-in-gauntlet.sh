# A gate in Python leaves compiled modules beside itself, run after run.
# expect: nothing
printf 'import os\ndef look(): return os.path.exists("red")\n' > .gauntlet/look.py
printf 'import sys, look\nsys.exit(look.look())\n' > .gauntlet/check.py
echo 'python3 .gauntlet/check.py' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE python3 .gauntlet/check.py
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo more >> main.txt
hook Stop '{"session_id":"next","stop_hook_active":false}'
hook UserPromptSubmit '{"session_id":"next","prompt":"more"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> main.txt
