# An editor writes other line ends, which git normalises when the file is staged.
echo '* text=auto' > .gitattributes
echo '! grep -q "$(printf "\r")" main.txt' >> .gauntlet/check.sh # a person's gate, who approves it
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate trust --yes
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
printf 'green\r\n' > main.txt
git add -A
test -z "$(git status --short)"
