# The agent leaves its red branch, stops, and goes back to it in the next turn.
git switch -qc own && touch red && git add red && git commit -qm red && git switch -q main
hook Stop '{"stop_hook_active":false}'
hook UserPromptSubmit '{"prompt":"go back"}'
git switch -q own
