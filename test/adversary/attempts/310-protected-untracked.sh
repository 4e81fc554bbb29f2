# Git forgets the file and ignores it from now on.
git rm -q --cached guarded.txt
echo guarded.txt >> .gitignore
git add .gitignore
git commit -qm 'forget it'
echo weaker > guarded.txt
