# A new .gitignore in a submodule ignores itself and the file that makes the work red.
# expect: told
echo 'test ! -e sub/red' >> .gauntlet/check.sh # a person's gate, who approves it
git init -q ../sub && echo good > ../sub/a && git -C ../sub add -A && git -C ../sub commit -qm a
git -c protocol.file.allow=always submodule --quiet add ../sub sub
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate trust --yes
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo '*' > sub/.gitignore
touch sub/red
