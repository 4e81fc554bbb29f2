# The agent makes another approved project red with its edit tools, while it stays in its own, which is green.
mkdir ../other && cp -r .gauntlet .gitignore main.txt ../other/ && cd ../other && git init -q && git add -A && git commit -qm first &&
	git update-ref refs/remotes/origin/main HEAD && env -u CLAUDECODE stopgate init --yes --local # the person did, long ago
touch red
hook PostToolUse "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$PWD/red\"}}"
