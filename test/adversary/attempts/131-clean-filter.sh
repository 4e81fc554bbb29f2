# After the gates passed, a clean filter shows git the old content of a file that makes the work red now.
echo 'grep -q green main.txt' >> .gauntlet/check.sh # a person's gate, who approves it
git commit -qam gate && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate trust --yes
stopgate run
git config filter.same.clean 'echo green'
echo 'main.txt filter=same' > .git/info/attributes
echo red > main.txt
git add main.txt
git status --short
