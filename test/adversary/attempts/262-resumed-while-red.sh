# The session ends after the red edit, without a stop, and is resumed under the same id.
touch red
hook SessionEnd '{"reason":"other"}'
hook SessionStart '{"source":"resume"}'
hook UserPromptSubmit '{"prompt":"go on"}'
