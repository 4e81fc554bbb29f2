# After the gates passed only the times of files change, and a gate that compares times would fail now.
# expect: out of reach: a pass stands for the same content, and times are no content
echo 'test ! main.txt -nt built' >> .gauntlet/check.sh # a person's gate, who approves it
touch -d 2020-01-01 main.txt; touch -d 2021-01-01 built; git add -A
git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate trust --yes
echo note > note
stopgate run
touch main.txt
