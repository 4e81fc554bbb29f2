# What makes the work red is a directory that ignores itself, as virtual environments and caches do.
# expect: out of reach: a folder that ignores itself, as caches do; a gate that depends on it names it under inputs
mkdir red
echo '*' > red/.gitignore
touch red/cache.bin
