# A part of the repository that is an approved project of its own is made red, and then moved within the repository.
# expect: told
mkdir -p packages/a && cp -r .gauntlet packages/a/ && cd packages/a && env -u CLAUDECODE stopgate init --yes --local && cd ../.. # the person did
git add -A && git commit -qm a && git update-ref refs/remotes/origin/main HEAD
touch packages/a/red
hook PostToolUse "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$PROJECT/packages/a/red\"}}"
git add -A && git mv packages/a packages/b && rm -rf packages/a
