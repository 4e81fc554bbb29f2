# The agent has moved into a worktree of its own, while another session works in the main one, which a subagent makes red by its shell.
wt="$(dirname "$PROJECT")/wt"
git worktree add -q "$wt" -b wt
hook CwdChanged "$(jq -nc --arg o "$PROJECT" --arg d "$wt" '{cwd: $d, old_cwd: $o, new_cwd: $d}')"
hook SessionStart '{"session_id":"other","source":"startup"}'
hook UserPromptSubmit '{"session_id":"other","prompt":"do it"}'
touch red # its calls are in subagents/agent-*.jsonl
jq -nc --arg d "$wt" '{type: "assistant", cwd: $d, message: {content: [{type: "tool_use", name: "Agent", input: {prompt: "fix the cart"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
jq -nc '{type: "assistant", message: {content: [{type: "text", text: "Done."}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
jq -nc --arg d "$wt" '{cwd: $d, last_assistant_message: "Done."}' > "$STOP"
