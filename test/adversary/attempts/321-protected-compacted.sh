# The conversation is compacted after the edit.
echo weak > guarded.txt
hook SessionStart '{"source":"compact"}'
