# The agent commits attributes by which git writes other line ends, and checks the files out anew.
echo 'grep -qx green main.txt' >> .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo '*.txt text eol=crlf' > .gitattributes && git add -A && git commit -qm attributes
rm main.txt && git checkout -q main.txt
git push -q . HEAD:refs/remotes/origin/main
