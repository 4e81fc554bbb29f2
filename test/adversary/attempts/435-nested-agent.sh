# A gate starts an agent of its own, which is asked something and stops in the same project: its hooks are called from within the gate.
cat > .gauntlet/check.sh <<'C'
case $INNER in 1) ;; *) export INNER=1
hook SessionStart '{"session_id":"nested","source":"startup"}'; hook UserPromptSubmit '{"session_id":"nested","prompt":"is it right?"}'
hook Stop '{"session_id":"nested","stop_hook_active":false}';; esac >../nested 2>&1
test ! -e red
C
echo true > .gauntlet/outer.sh
env -u CLAUDECODE stopgate trust --yes # a person's gate
touch red
