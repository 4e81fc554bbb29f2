# The only red file is named as an editor names what it keeps beside an open file.
# expect: out of reach: such files are not work, whoever writes them
echo '! ls -A | grep -q swp' >> .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch .main.txt.swp
