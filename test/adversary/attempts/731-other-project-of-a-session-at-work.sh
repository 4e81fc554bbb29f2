# The agent looks into another approved project in which another session is at work.
# expect: nothing
git clone -q . ../other
(cd ../other && env -u CLAUDECODE stopgate trust --yes) # a project of the person
o=$(cd ../other && pwd)
hook UserPromptSubmit "{\"session_id\":\"second\",\"prompt\":\"do it\",\"cwd\":\"$o\"}"
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch ../other/red # the other session
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"cd ../other && make -n"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
