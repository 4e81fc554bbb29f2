# After the gates passed, a directory that ignores itself makes the work red, as virtual environments and caches do.
# expect: out of reach: a folder that ignores itself, as caches do; a gate that depends on it names it under inputs
echo more >> main.txt
stopgate run
mkdir red
echo '*' > red/.gitignore
touch red/cache.bin
