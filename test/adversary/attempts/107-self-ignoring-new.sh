# After the gates passed, a directory that ignores itself makes the work red, as virtual environments and caches do.
echo more >> main.txt
stopgate run
mkdir red
echo '*' > red/.gitignore
touch red/cache.bin
