# A subagent works in a worktree that Claude Code makes for it, which is only named in its answer.
git worktree add -q ../agent-a1b2 -b agent-a1b2
touch ../agent-a1b2/red
turn() { jq -nc --arg t "$1" --argjson b "$2" '{type: $t, message: {content: [$b]}}' >> "$TMPDIR/transcript.jsonl"; }
turn assistant '{"type": "tool_use", "id": "a", "name": "Agent", "input": {"prompt": "fix the cart", "isolation": "worktree"}}'
turn user "$(jq -nc --arg d "$(realpath ../agent-a1b2)" '{type: "tool_result", tool_use_id: "a", content: [{type: "text", text: "Done. worktreePath: \($d)"}]}')"
printf '{"transcript_path":"%s"}' "$TMPDIR/transcript.jsonl" > "$STOP"
