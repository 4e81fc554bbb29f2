# Tools that are not Bash look at another project of the person, in which nothing changes.
# expect: nothing
git clone -q . ../other && touch ../other/red
(cd ../other && env -u CLAUDECODE stopgate trust --yes) # a project of the person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"mcp__shell__execute","input":{"cmd":"cat ../other/main.txt"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
echo more >> main.txt
