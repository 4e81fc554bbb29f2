# A tool of an editor makes another approved project red, whose file it names by its URI.
git clone -q . ../other
(cd ../other && env -u CLAUDECODE stopgate trust --yes) # a project of the person
touch ../other/red
hook PostToolUse "$(jq -nc --arg f "file://$(realpath ../other)/red" '{tool_name: "mcp__ide__apply_edit", tool_input: {uri: $f}, tool_response: {}, tool_use_id: "t"}')"
