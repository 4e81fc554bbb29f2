# The worktree has a name that the session never says.
# expect: told
dir=$(mktemp -d)
git worktree add -q "$dir/x" -b hidden
touch "$dir/x/red"
printf '{"text":"nothing"}\n' > "$TMPDIR/transcript.jsonl"
printf '{"transcript_path":"%s"}' "$TMPDIR/transcript.jsonl" > "$STOP"
