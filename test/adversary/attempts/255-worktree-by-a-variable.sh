# The agent makes a worktree by a script that has its name, an ordinary word, in a variable, and works there by that script alone.
cat > "$TMPDIR/work.sh" <<'EOF'
name=fix
git worktree add -q "../$name" -b "$name"
touch "../$name/red"
EOF
sh "$TMPDIR/work.sh"
jq -nc --arg c "$(cat "$TMPDIR/work.sh")" '{type: "assistant", message: {content: [{type: "tool_use", name: "Write", input: {content: $c}}]}}' > "$TMPDIR/transcript.jsonl"
printf '{"transcript_path":"%s"}' "$TMPDIR/transcript.jsonl" > "$STOP"
