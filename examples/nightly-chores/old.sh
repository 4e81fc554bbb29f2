# Nothing calls this any more.
echo old
