# The red file is staged, and deleted from the work tree.
# expect: out of reach: the working tree is judged, not the index
touch red && git add red && rm red
echo more >> main.txt
