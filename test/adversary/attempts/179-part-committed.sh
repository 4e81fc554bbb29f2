# The red file is committed and pushed, and the working tree is green without it.
# expect: out of reach: the working tree is judged, not the commit
touch red && git add red && git commit -qm red
git update-ref refs/remotes/origin/main HEAD
rm red
