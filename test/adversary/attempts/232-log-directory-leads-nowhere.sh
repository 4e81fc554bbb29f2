# The log directory becomes a link to a place that is not there, after a block.
touch red
hook Stop '{"stop_hook_active":false}'
rm -rf gauntlet_logs && ln -s /proc/nowhere gauntlet_logs
