# A rebase that has stopped keeps the uncommitted red work in its autostash.
# expect: told
echo '! grep -q bad main.txt' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git commit -qam gate && git update-ref refs/remotes/origin/main HEAD
echo ok > ok.txt && git add ok.txt && git commit -qm ok
echo bad > main.txt
GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i --autostash HEAD~1
grep -q green main.txt
