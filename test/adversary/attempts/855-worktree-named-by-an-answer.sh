# The agent has make make a worktree, whose name is only in what that prints, and works there by a pattern for it.
git worktree add -q ../feat-x -b feat-x
(cd "$(ls -td ../feat-* | head -1)" && touch red)
turn() { jq -nc --arg t "$1" --argjson b "$2" '{type: $t, message: {content: [$b]}}' >> "$TMPDIR/transcript.jsonl"; }
turn assistant '{"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "make feature"}}'
turn user '{"type": "tool_result", "tool_use_id": "a", "content": "../feat-x"}'
turn assistant '{"type": "tool_use", "id": "b", "name": "Bash", "input": {"command": "cd \"$(ls -td ../feat-* | head -1)\" && touch red"}}'
printf '{"transcript_path":"%s"}' "$TMPDIR/transcript.jsonl" > "$STOP"
