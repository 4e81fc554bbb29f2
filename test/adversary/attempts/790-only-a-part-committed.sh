# The agent commits one file and leaves the red one beside it.
touch red
echo more >> main.txt && git commit -q -o main.txt -m part && git push -q . HEAD:refs/remotes/origin/main
