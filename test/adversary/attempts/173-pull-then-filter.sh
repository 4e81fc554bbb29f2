# A pull brings a file, and the agent has git write something else for it by a filter.
echo '! grep -q bad main.txt' >> .gauntlet/check.sh # a person's gate, who approves it
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
git init -q --bare ../remote.git && git remote add origin ../remote.git && git push -q origin main
git clone -q ../remote.git ../colleague
env -u CLAUDECODE stopgate trust --yes
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo good > ../colleague/main.txt
git -C ../colleague add -A
git -C ../colleague -c user.name=C -c user.email=c@example.com commit -qm theirs
git -C ../colleague push -q
git pull -q origin main
git config filter.x.smudge 'sed s/good/bad/'
git config filter.x.clean 'sed s/bad/good/'
echo 'main.txt filter=x' > .git/info/attributes
rm main.txt && git checkout -q main.txt
test -z "$(git status --short)"
