# After a block the agent deletes what is known of failures and blocks, the journal and the logs.
touch red
hook Stop '{"stop_hook_active":false}'
rm -rf "$STATE/ledger" "$STATE/blocks" "$STATE/journal" gauntlet_logs
