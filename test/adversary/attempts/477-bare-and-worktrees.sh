# The repository is bare, and the project one of its worktrees.
git clone -q --bare . ../b.git && git -C ../b.git worktree add -q "$PROJECT/../w" main && cd ../w && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate init --yes --local
p=$(realpath .)
hook SessionStart "{\"session_id\":\"next\",\"source\":\"startup\",\"cwd\":\"$p\"}"
hook UserPromptSubmit "{\"session_id\":\"next\",\"prompt\":\"do it\",\"cwd\":\"$p\"}"
echo "{\"session_id\":\"next\",\"cwd\":\"$p\"}" > "$STOP"
touch red && git add red && git commit -qm red
