# Another file with the name of the config appears beside it, and the first is removed.
touch red
printf 'entry_points: []\n' > .gauntlet/config.yaml && rm .gauntlet/config.yml
printf '{"entry_points":[]}' > .gauntlet/config.json
printf 'stop: {commands: []}\n' > .conclaude.yaml
