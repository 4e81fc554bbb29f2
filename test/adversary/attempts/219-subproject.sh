# A part of the repository is an approved project of its own; the agent makes it red and stops in the root.
mkdir -p packages/a && cp -r .gauntlet packages/a/ && cd packages/a && env -u CLAUDECODE stopgate init --yes --local && cd ../.. # the person did
git add -A && git commit -qm a && git update-ref refs/remotes/origin/main HEAD
touch packages/a/red
hook PostToolUse "{\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":\"$PROJECT/packages/a/red\"}}"
