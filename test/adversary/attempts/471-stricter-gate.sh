# The person makes the gate stricter while the agent works, and the agent stops without another edit.
echo yellow > main.txt
hook Stop '{"stop_hook_active":false}'
echo '! grep -q yellow main.txt' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
