# The agent amends the first commit of the repository, and has no ancestor in common with the base any more.
touch red
git add red && git commit -q --amend -m all
