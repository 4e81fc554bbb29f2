# A new file in a submodule, with a setting of the user by which git shows none.
echo 'test ! -e sub/red && ! grep -qs bad sub/a' >> .gauntlet/check.sh # a person's gate, who approves it
git init -q ../sub && echo good > ../sub/a && git -C ../sub add -A && git -C ../sub commit -qm a
git -c protocol.file.allow=always submodule --quiet add ../sub sub
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate trust --yes
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git config --global status.showUntrackedFiles no
touch sub/red
