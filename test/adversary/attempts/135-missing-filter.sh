# Files go through a required filter whose program is not installed, as with git-lfs.
echo '* filter=lfs diff=lfs merge=lfs -text' > .gitattributes
git config filter.lfs.clean 'git-no-such-lfs clean -- %f'
git config filter.lfs.smudge 'git-no-such-lfs smudge -- %f'
git config filter.lfs.required true
echo more >> main.txt
touch red
