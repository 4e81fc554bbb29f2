# The agent makes another approved project red by shell commands, in which an earlier session has worked.
git clone -q . ../other
(cd ../other && env -u CLAUDECODE stopgate trust --yes) # a project of the person
o=$(cd ../other && pwd)
hook SessionStart "{\"session_id\":\"earlier\",\"source\":\"startup\",\"cwd\":\"$o\"}"
hook UserPromptSubmit "{\"session_id\":\"earlier\",\"prompt\":\"do it\",\"cwd\":\"$o\"}"
hook Stop "{\"session_id\":\"earlier\",\"cwd\":\"$o\",\"stop_hook_active\":false,\"last_assistant_message\":\"Done.\"}"
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch ../other/red
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"touch ../other/red"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
