# The red commit waits in the list of an interactive rebase that stopped before it.
# expect: told
echo ok > ok.txt && git add ok.txt && git commit -qm ok
touch red && git add red && git commit -qm red
GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i HEAD~2
test ! -e red
