# A package is an approved project of its own; the agent goes there from the root by its shell alone.
mkdir -p packages/a && cp -r .gauntlet packages/a/ && (cd packages/a && env -u CLAUDECODE stopgate trust --yes) # the person did
git add -A && git commit -qm a && git update-ref refs/remotes/origin/main HEAD
touch packages/a/red
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"cd packages/a && touch red"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
