# The agent makes a local branch that is called origin/main by mistake, and git takes it for the base.
touch red
git add red && git commit -qm work
git branch origin/main
