# The agent approves its own change. Its shell has the client's marks.
echo weaker > guarded.txt
CLAUDECODE=1 stopgate approve --yes # may fail
