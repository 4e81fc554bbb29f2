# People keep worktrees in the folder around a bare repository, and start Claude Code there. That folder has no files that could be missing.
# expect: nothing
git clone -q --bare . ../around/.git && cd ../around && git worktree add -q main main
git -C main update-ref refs/remotes/origin/main HEAD
(cd main && env -u CLAUDECODE stopgate trust --yes)
p=$(realpath .)
hook SessionStart "{\"session_id\":\"next\",\"source\":\"startup\",\"cwd\":\"$p\"}"
hook UserPromptSubmit "{\"session_id\":\"next\",\"prompt\":\"add a worktree\",\"cwd\":\"$p\"}"
git worktree add -q feat -b feat
echo more > feat/more.txt
hook PostToolUse "{\"session_id\":\"next\",\"cwd\":\"$p\",\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$p/feat/more.txt\"}}"
echo "{\"session_id\":\"next\",\"cwd\":\"$p\"}" > "$STOP"
