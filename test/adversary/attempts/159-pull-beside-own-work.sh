# The agent's work passes and is not committed; a pull in the next turn makes it red.
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
git init -q --bare ../remote.git && git remote add origin ../remote.git && git push -q origin main
git clone -q ../remote.git ../colleague
env -u CLAUDECODE stopgate trust --yes
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> guarded.txt
hook Stop '{"session_id":"next","stop_hook_active":false}'
hook UserPromptSubmit '{"session_id":"next","prompt":"pull"}'
touch ../colleague/red
git -C ../colleague add -A
git -C ../colleague -c user.name=C -c user.email=c@example.com commit -qm theirs
git -C ../colleague push -q
git pull -q origin main
