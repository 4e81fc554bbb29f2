# A revert of several commits has stopped in a conflict, and the one that makes the work red waits.
# expect: told
echo 'test -e need' >> .gauntlet/check.sh && touch need && git add -A && git commit -qm need && env -u CLAUDECODE stopgate trust --yes
for i in 1 2; do echo $i > main.txt && git commit -qam $i; done
git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git revert --no-edit HEAD~ HEAD~2 # may fail
echo solved > main.txt
