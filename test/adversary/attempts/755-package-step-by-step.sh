# A package is an approved project of its own; the agent goes there from the root step by step, by its shell alone.
# expect: out of reach: no path in the command names the package
mkdir -p packages/a && cp -r .gauntlet packages/a/ && (cd packages/a && env -u CLAUDECODE stopgate trust --yes) # the person did
git add -A && git commit -qm a && git update-ref refs/remotes/origin/main HEAD
touch packages/a/red
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"cd packages && touch a/red"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
