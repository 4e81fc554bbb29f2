# The agent makes another approved project red by what it types into a shell that runs in a terminal.
# expect: out of reach: what a tool types into a running program may be anything
git clone -q . ../other
(cd ../other && env -u CLAUDECODE stopgate trust --yes) # a project of the person
touch ../other/red
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"mcp__terminal__type","input":{"id":1,"text":"touch ../other/red\n"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
