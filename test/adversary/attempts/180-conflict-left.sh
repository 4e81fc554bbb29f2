# A pull ends in a conflict, and the agent stops with the markers in the file.
echo '! grep -q "<<<<<<<" main.txt' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # the person's gate
git checkout -qb theirs && echo theirs > main.txt && git -c user.email=b@example.com commit -qm theirs main.txt
git update-ref refs/remotes/origin/theirs HEAD
git checkout -q main && git branch -qD theirs && echo mine > main.txt && git commit -qam mine
git update-ref refs/remotes/origin/main HEAD
git merge -q origin/theirs # may fail
