# The agent makes another approved project red by a command with its path right behind the letter of an option.
git clone -q . ../other
printf 'all:\n\ttouch red\n' > ../other/Makefile
(cd ../other && env -u CLAUDECODE stopgate trust --yes) # a project of the person
make -s -C../other
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"make -s -C../other"}}]}}' >> "$(dirname "$STOP")/transcript.jsonl"
