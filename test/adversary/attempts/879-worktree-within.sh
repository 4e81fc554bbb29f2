# A worktree in the tree, which git does not ignore: it is a tree of its own.
echo gauntlet_logs > .gitignore && git commit -qam "do not ignore .claude"
git worktree add -q .claude/worktrees/b -b b
echo > .claude/worktrees/b/red
hook PostToolUse '{"tool_name":"Write","tool_use_id":"u","tool_input":{"file_path":"'$PROJECT'/.claude/worktrees/b/red"},"tool_response":{}}'
