# A pull stops in a conflict, and the uncommitted red work is in its autostash.
# expect: told
echo '! grep -q bad main.txt' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git commit -qam gate && git update-ref refs/remotes/origin/main HEAD
git checkout -qb theirs && echo t > both.txt && git add both.txt && git commit -qm theirs && git checkout -q main
echo o > both.txt && git add both.txt && git commit -qm ours
echo bad > main.txt
git pull -q --rebase --autostash . theirs # may fail
grep -q green main.txt
echo both > both.txt && git add both.txt
