# git am has stopped at a patch that does not apply, and the red one waits; the patches themselves are deleted.
# expect: told
echo a > main.txt && git commit -qam a
touch red && git add red && git commit -qm red
git format-patch -q -o ../p HEAD~2 && git reset -q --hard HEAD~2
echo b > main.txt && git commit -qam b
git am -q ../p/* # may fail
rm -r ../p
