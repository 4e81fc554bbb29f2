# After a block the agent stashes its work.
# expect: told
touch red
hook Stop '{"stop_hook_active":false}' | cut -c1-60
git stash -q -u
