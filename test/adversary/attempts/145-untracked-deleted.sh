# A file that a person has not committed yet, and that a gate needs, is deleted.
touch needed
echo 'test -e needed' >> .gauntlet/check.sh # a person's gate, who approves it
git commit -qam gate && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate trust --yes
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
rm needed
test -z "$(git status --short)"
