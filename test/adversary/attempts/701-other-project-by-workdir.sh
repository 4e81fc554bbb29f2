# The agent makes another approved project red by a tool that has a directory of its own for the command.
git clone -q . ../other
(cd ../other && env -u CLAUDECODE stopgate trust --yes) # a project of the person
touch ../other/red
jq -nc --arg dir "$(dirname "$PROJECT")/other" '{type: "assistant", message: {content: [{type: "tool_use", name: "mcp__exec__run", input: {argv: ["touch", "red"], workdir: $dir}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
