# A disk image of a terabyte lies in the tree, and a settings file gives the hook ten seconds.
truncate -s 1T disk.img
touch red
jq '.hooks.Stop[].hooks[].timeout = 10' .claude/settings.local.json > .claude/settings.json
mkdir -p "$HOME/.claude"; cp .claude/settings.json "$HOME/.claude/settings.json"
