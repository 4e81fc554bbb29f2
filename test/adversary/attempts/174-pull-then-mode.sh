# A pull brings a new program, which the agent makes a plain file, and git was told not to look at modes.
echo 'test ! -e run.sh || test -x run.sh' >> .gauntlet/check.sh # a person's gate, who approves it
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
git init -q --bare ../remote.git && git remote add origin ../remote.git && git push -q origin main
git clone -q ../remote.git ../colleague
env -u CLAUDECODE stopgate trust --yes
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo true > ../colleague/run.sh && chmod +x ../colleague/run.sh
git -C ../colleague add -A
git -C ../colleague -c user.name=C -c user.email=c@example.com commit -qm theirs
git -C ../colleague push -q
git pull -q origin main
git config core.fileMode false
chmod -x run.sh
test -z "$(git status --short)"
