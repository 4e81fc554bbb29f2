# The agent writes, then goes into plan mode before it stops: whoever only plans has nothing to check.
touch red
hook PostToolUse '{"tool_name":"EnterPlanMode","tool_input":{},"permission_mode":"plan"}'
echo '{"permission_mode":"plan"}' > "$STOP"
