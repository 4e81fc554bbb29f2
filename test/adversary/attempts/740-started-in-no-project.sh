# Claude Code was started where no project is, and the agent makes an approved one red by a shell command.
git clone -q . ../other
(cd ../other && env -u CLAUDECODE stopgate trust --yes) # a project of the person
mkdir ../scratch && cd ../scratch
scratch() { # sends an event of that session
	jq -c --arg e "$1" --arg d "$PWD" --argjson more "$2" '. + {hook_event_name: $e, cwd: $d, session_id: "scratch"} + $more' "$(dirname "$STOP")/base.json" |
		CLAUDE_PROJECT_DIR=$PWD stopgate hook "$1"
}
scratch SessionStart '{"source":"startup"}'
scratch UserPromptSubmit '{"prompt":"do it"}'
touch ../other/red
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"cd ../other && touch red"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
echo "{\"session_id\":\"scratch\"}" > "$STOP"
scratch Stop '{"stop_hook_active":false,"last_assistant_message":"Done."}' > "$TMPDIR/answer"
grep -q "\"decision\":\"block\"" "$TMPDIR/answer"
