# The folder of git is gone, and a repository above ignores everything in it.
git init -q "$PROJECT/.." && echo '*' > ../.gitignore
touch red
rm -rf .git
