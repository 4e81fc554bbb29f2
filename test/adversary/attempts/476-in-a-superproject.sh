# The project is a submodule, the agent commits red there and the superproject's pointer too.
git init -q ../super && cd ../super && git -c protocol.file.allow=always submodule --quiet add "$PROJECT" p && git commit -qm p && cd p && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate init --yes --local
p=$PWD
hook SessionStart "{\"session_id\":\"next\",\"source\":\"startup\",\"cwd\":\"$p\"}"
hook UserPromptSubmit "{\"session_id\":\"next\",\"prompt\":\"do it\",\"cwd\":\"$p\"}"
echo "{\"session_id\":\"next\",\"cwd\":\"$p\"}" > "$STOP"
touch red && git add red && git commit -qm red && cd .. && git commit -qam pointer
