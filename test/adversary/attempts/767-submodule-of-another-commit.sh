# The agent pushes a red commit to the remote of a submodule, and updates the submodule from there.
git init -q ../sub && echo good > ../sub/a && git -C ../sub add -A && git -C ../sub commit -qm a
git -c protocol.file.allow=always submodule --quiet add ../sub sub
echo 'grep -q good sub/a' >> .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git clone -q ../sub ../clone && cd ../clone && echo worse > a && git commit -qam a && git push -q origin HEAD:refs/heads/next && cd "$PROJECT"
git -C sub fetch -q origin next && git -C sub checkout -q FETCH_HEAD
git commit -qam pointer && git push -q . HEAD:refs/remotes/origin/main
