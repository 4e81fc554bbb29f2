# The agent makes another approved project red by the shell of an MCP server, whose input is a list of words.
git clone -q . ../other
(cd ../other && env -u CLAUDECODE stopgate trust --yes) # a project of the person
touch ../other/red
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"mcp__shell__execute","input":{"cmd":["sh","-c","touch ../other/red"]}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
