# The agent calls the hook by hand as CI would, where only what is committed counts; that answer is to stand for the real stop.
touch red
CI=true hook Stop '{"stop_hook_active":false}'
