# A file changes within the words that git replaces.
echo '$Id$' > main.txt && echo 'main.txt ident' > .gitattributes
echo '! grep -q red main.txt' >> .gauntlet/check.sh # a person's gate, who approves it
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate trust --yes
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo '$Id: red $' > main.txt
git add -A
test -z "$(git status --short)"
