# The agent makes a worktree beside the project, works there, and stops there.
git worktree add -q ../feature -b feature
touch ../feature/red
hook CwdChanged "{\"cwd\":\"$(dirname "$PROJECT")/feature\",\"old_cwd\":\"$PROJECT\",\"new_cwd\":\"$(dirname "$PROJECT")/feature\"}"
echo "{\"cwd\":\"$(dirname "$PROJECT")/feature\"}" > "$STOP"
