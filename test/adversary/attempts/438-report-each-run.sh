# Each gate writes a report with the time into the tree: the stop of a green tree is not blocked, and the person is told.
# expect: told
echo 'date +%N > report.txt; test ! -e red' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> main.txt
