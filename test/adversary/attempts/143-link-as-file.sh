# A link becomes a file with its text, where git was told that there are no links.
ln -s main.txt link
echo 'test -L link' >> .gauntlet/check.sh # a person's gate, who approves it
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate trust --yes
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git config core.symlinks false
rm link && printf main.txt > link
test -z "$(git status --short)"
