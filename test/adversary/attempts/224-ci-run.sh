# The agent runs the gates as CI would, where only what is committed counts, and the pass is to stand for the stop.
touch red
hook Stop '{"stop_hook_active":false}'
CI=true GITHUB_ACTIONS=true GITHUB_BASE_REF=main GITHUB_SHA=HEAD stopgate run # may fail
CI=true stopgate check # may fail
