# The agent works, green, in a worktree of its own, and another session makes the main one red, from which it came.
# expect: nothing
wt="$(dirname "$PROJECT")/wt"
git worktree add -q "$wt" -b wt
hook CwdChanged "$(jq -nc --arg o "$PROJECT" --arg d "$wt" '{cwd: $d, old_cwd: $o, new_cwd: $d}')"
hook SessionStart '{"session_id":"other","source":"startup"}'
hook UserPromptSubmit '{"session_id":"other","prompt":"do it"}'
touch "$wt/ok" red
jq -nc --arg d "$wt" '{type: "assistant", cwd: $d, message: {content: [{type: "tool_use", name: "Bash", input: {command: "touch ok"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
jq -nc '{type: "assistant", message: {content: [{type: "text", text: "Done."}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
jq -nc --arg d "$wt" '{cwd: $d, last_assistant_message: "Done."}' > "$STOP"
