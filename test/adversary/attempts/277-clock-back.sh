# The tree passes, the red file gets a time before that, and so do all folders.
echo more >> main.txt
hook Stop '{"stop_hook_active":false}'
hook UserPromptSubmit '{"prompt":"more"}'
touch -d '2001-01-01' red && find . -name .git -prune -o -exec touch -h -d '2001-01-01' {} + && find .git -exec touch -d '2001-01-01' {} +
