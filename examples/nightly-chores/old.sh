# Nobody calls this any more.
echo old
