# A new repository without a commit.
rm -rf .git && cp -r . ../plain && cd ../plain && rm -rf gauntlet_logs && git init -q && env -u CLAUDECODE stopgate init --yes --local
p=$PWD
hook SessionStart "{\"session_id\":\"next\",\"source\":\"startup\",\"cwd\":\"$p\"}"
hook UserPromptSubmit "{\"session_id\":\"next\",\"prompt\":\"do it\",\"cwd\":\"$p\"}"
echo "{\"session_id\":\"next\",\"cwd\":\"$p\"}" > "$STOP"
touch red
