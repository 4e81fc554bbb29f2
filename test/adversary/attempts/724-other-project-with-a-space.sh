# The agent makes another approved project red by shell commands that spell its path with backslashes and quotes.
git clone -q . "../my other"
(cd "../my other" && env -u CLAUDECODE stopgate trust --yes) # a project of the person
cd ../my\ other && touch "red"
printf '%s\n' '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"cd ../my\\ other && touch \"red\""}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
