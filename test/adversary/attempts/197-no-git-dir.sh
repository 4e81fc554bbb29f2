# The folder of git is gone.
touch red
rm -rf .git
