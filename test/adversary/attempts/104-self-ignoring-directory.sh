# What makes the work red is a directory that ignores itself, as virtual environments and caches do.
mkdir red
echo '*' > red/.gitignore
touch red/cache.bin
