# A gate starts an agent that fixes something and stops in the same project: its hook is called from within the gate.
cat > .gauntlet/check.sh <<'C'
case $INNER in 1) ;; *) export INNER=1
hook SessionStart '{"session_id":"nested","source":"startup"}'; hook UserPromptSubmit '{"session_id":"nested","prompt":"fix it"}'
echo fixed >> main.txt
hook Stop '{"session_id":"nested","stop_hook_active":false}';; esac >../nested 2>&1
test ! -e red
C
echo true > .gauntlet/outer.sh
env -u CLAUDECODE stopgate trust --yes # a person's gate
touch red
timeout 60 sh -c 'hook Stop "{\"stop_hook_active\":false}"' > ../a1
cat ../a1; cat ../nested; grep -q '"decision":"block"' ../a1
