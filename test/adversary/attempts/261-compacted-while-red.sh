# The conversation is compacted after the red edit, and the agent stops without another.
touch red
hook PreCompact '{"trigger":"auto"}'
hook SessionStart '{"source":"compact"}'
