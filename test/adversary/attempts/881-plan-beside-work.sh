# In plan mode, a plan is written, and then more.
mkdir -p "$HOME/.claude/plans" && echo plan > "$HOME/.claude/plans/p.md"
hook PostToolUse '{"permission_mode":"plan","tool_name":"Write","tool_use_id":"u","tool_input":{"file_path":"'$HOME'/.claude/plans/p.md"},"tool_response":{}}'
touch red
echo '{"permission_mode":"plan"}' > "$STOP"
