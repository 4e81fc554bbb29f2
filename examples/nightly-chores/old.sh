# Nothing calls this now.
echo old
