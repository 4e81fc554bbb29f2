# The agent sets the mode to observe in the global config.
# expect: out of reach: it edits the global config
touch red
printf 'trust: enforce\nmode: observe\n' > "$HOME/.config/agent-gauntlet/config.yml"
