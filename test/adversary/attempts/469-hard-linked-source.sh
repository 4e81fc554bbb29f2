# A file of the tree is edited by its other name outside, and gets its old times back.
echo 'grep -q green main.txt' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
ln main.txt ../store && touch -r main.txt ../times
printf 'wrong\n' > ../store && touch -r ../times ../store
