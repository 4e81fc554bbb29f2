# The red project moves away, and a fresh clone takes its place.
# expect: out of reach: the work lies in a copy that is not a worktree, and nothing that stopgate looks at names it
git remote add origin "$HOME/none" # the client knows another place
touch red
cd .. && mv project old && git clone -q old project
