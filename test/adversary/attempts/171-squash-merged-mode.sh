# A branch that only takes the executable bit from a script that a gate needs is squash-merged at the remote, pulled and deleted.
echo true > run.sh && chmod +x run.sh
echo 'test -x run.sh' >> .gauntlet/check.sh # a person's gate, who approves it
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate trust --yes
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git init -q --bare ../remote.git
git remote add origin ../remote.git
git push -q origin main
git checkout -qb f
chmod -x run.sh
git commit -qam x
git push -q origin f
git clone -q ../remote.git ../colleague
git -C ../colleague merge -q --squash origin/f
git -C ../colleague -c user.name=GitHub -c user.email=noreply@github.com commit -qm 'x (#1)'
git -C ../colleague push -q
git checkout -q main
git pull -q origin main
git branch -qD f
