# After a block the agent commits, pushes, and deletes what is known of failures and blocks.
touch red
hook Stop '{"stop_hook_active":false}'
rm -rf "$STATE/ledger" "$STATE/blocks" "$STATE/journal" gauntlet_logs
