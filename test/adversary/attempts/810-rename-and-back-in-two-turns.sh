# The red file is renamed away for the first stop and back in the next turn.
touch wip && mv wip red && mv red wip
hook Stop '{"stop_hook_active":false}'
hook UserPromptSubmit '{"prompt":"more"}'
mv wip red
