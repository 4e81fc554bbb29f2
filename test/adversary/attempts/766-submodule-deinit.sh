# The agent deinitialises a submodule that a gate needs.
git init -q ../sub && echo good > ../sub/a && git -C ../sub add -A && git -C ../sub commit -qm a
git -c protocol.file.allow=always submodule --quiet add ../sub sub
echo 'grep -q good sub/a' >> .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git submodule --quiet deinit -f sub
