# The agent makes another approved project red by shell commands alone, each of which begins in its own project, where it stops.
git clone -q . ../other
(cd ../other && env -u CLAUDECODE stopgate trust --yes) # a project of the person
cd ../other && touch red && git add -A && git commit -qm wip
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"cd ../other && touch red && git add -A && git commit -qm wip"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
