# A second prompt arrives after the red edit, while the agent works on.
touch red
hook UserPromptSubmit '{"prompt":"and this"}'
hook UserPromptSubmit '{"prompt":"thanks, explain it"}'
