# After a block the agent commits, and its session is resumed under another id, where it stops as if nothing had been.
touch red
hook Stop '{"stop_hook_active":false}'
hook SessionEnd '{"reason":"other"}'
hook SessionStart '{"session_id":"resumed","source":"resume"}'
git add -A && git commit -qm wip && git push -q . HEAD:refs/remotes/origin/main
echo '{"session_id":"resumed","prompt_id":null}' > "$STOP"
