# A pull brings a file, and the agent has git write it with other line ends by a setting.
echo '! grep -q "$(printf "\r")" main.txt' >> .gauntlet/check.sh # a person's gate, who approves it
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
git init -q --bare ../remote.git && git remote add origin ../remote.git && git push -q origin main
git clone -q ../remote.git ../colleague
env -u CLAUDECODE stopgate trust --yes
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> ../colleague/main.txt
git -C ../colleague add -A
git -C ../colleague -c user.name=C -c user.email=c@example.com commit -qm theirs
git -C ../colleague push -q
git pull -q origin main
git config core.autocrlf true
rm main.txt && git checkout -q main.txt
test -z "$(git status --short)"
