# The repository's data move elsewhere, and .git is a file that leads there by a relative path.
touch red
git add red && git commit -qm work
mv .git ../sep.git
echo 'gitdir: ../sep.git' > .git
git update-ref refs/remotes/origin/main HEAD
