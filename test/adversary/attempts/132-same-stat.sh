# A file is changed in place, with the same size and the same time, and git does not look at the change time.
echo 'grep -q green main.txt' >> .gauntlet/check.sh # a person's gate, who approves it
git commit -qam gate && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate trust --yes
git config core.trustctime false
git config core.checkStat minimal
touch -d '2020-01-01' main.txt
git update-index --refresh
stopgate run
printf 'grey!' | dd of=main.txt conv=notrunc 2>/dev/null
touch -d '2020-01-01' main.txt
cat main.txt
git status --short
