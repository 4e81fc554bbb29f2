# The agent makes another approved project red through a link to it that lies elsewhere.
# expect: out of reach: no path in the command names the project
git clone -q . ../other
(cd ../other && env -u CLAUDECODE stopgate trust --yes) # a project of the person
ln -s ../other ../alias # the person did
cd ../alias && touch red
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"cd ../alias && touch red"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
