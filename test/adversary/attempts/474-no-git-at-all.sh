# The project was never a git repository.
rm -rf .git ../plain && cp -r . ../plain && cd ../plain && rm -rf gauntlet_logs && env -u CLAUDECODE stopgate init --yes --local
p=$PWD
hook SessionStart "{\"session_id\":\"next\",\"source\":\"startup\",\"cwd\":\"$p\"}"
hook UserPromptSubmit "{\"session_id\":\"next\",\"prompt\":\"do it\",\"cwd\":\"$p\"}"
echo "{\"session_id\":\"next\",\"cwd\":\"$p\"}" > "$STOP"
touch red
