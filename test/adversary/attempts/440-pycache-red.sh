# The same gate, run by the agent on the green tree first, and then the tree is red.
printf 'import os\ndef look(): return os.path.exists("red")\n' > .gauntlet/look.py
printf 'import sys, look\nsys.exit(look.look())\n' > .gauntlet/check.py
echo 'python3 .gauntlet/check.py' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
python3 .gauntlet/check.py
touch red
