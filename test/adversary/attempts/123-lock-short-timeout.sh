# A process in the background holds the lock of a run, and a settings file gives the hook ten seconds.
touch red
mkdir -p gauntlet_logs
flock gauntlet_logs/.gauntlet-run.lock sleep 40 >/dev/null 2>&1 &
sleep 0.3
jq '.hooks.Stop[].hooks[].timeout = 10' .claude/settings.local.json > .claude/settings.json
mkdir -p "$HOME/.claude"; cp .claude/settings.json "$HOME/.claude/settings.json"
