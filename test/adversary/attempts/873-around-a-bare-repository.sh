# Work in a worktree beside a bare repository, in whose folder Claude Code was started.
git clone -q --bare . ../around/.git && cd ../around && git worktree add -q main main
git -C main update-ref refs/remotes/origin/main HEAD
(cd main && env -u CLAUDECODE stopgate trust --yes)
p=$(realpath .)
hook SessionStart "{\"session_id\":\"next\",\"source\":\"startup\",\"cwd\":\"$p\"}"
hook UserPromptSubmit "{\"session_id\":\"next\",\"prompt\":\"add a worktree\",\"cwd\":\"$p\"}"
git worktree add -q feat -b feat
touch feat/red
hook PostToolUse "{\"session_id\":\"next\",\"cwd\":\"$p\",\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$p/feat/red\"}}"
echo "{\"session_id\":\"next\",\"cwd\":\"$p\"}" > "$STOP"
