# The red file is only announced to git.
touch red && git add -N red
