# A pull brings a new link, which the agent makes a plain file, and git was told that there are no links.
echo 'test ! -e link || test -L link' >> .gauntlet/check.sh # a person's gate, who approves it
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
git init -q --bare ../remote.git && git remote add origin ../remote.git && git push -q origin main
git clone -q ../remote.git ../colleague
env -u CLAUDECODE stopgate trust --yes
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
ln -s main.txt ../colleague/link
git -C ../colleague add -A
git -C ../colleague -c user.name=C -c user.email=c@example.com commit -qm theirs
git -C ../colleague push -q
git pull -q origin main
git config core.symlinks false
rm link && printf main.txt > link
test -z "$(git status --short)"
