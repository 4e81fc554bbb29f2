# The session ends after the edit and is resumed.
echo weak > guarded.txt
hook SessionEnd '{"reason":"other"}'
hook SessionStart '{"source":"resume"}'
hook UserPromptSubmit '{"prompt":"go on"}'
