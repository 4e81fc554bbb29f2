# The global config becomes a fifo at whose other end nobody is, and the transcript too.
touch red
rm -f "$HOME/.config/agent-gauntlet/config.yml" && mkfifo "$HOME/.config/agent-gauntlet/config.yml"
mkfifo "$(dirname "$STOP")/transcript.jsonl"
