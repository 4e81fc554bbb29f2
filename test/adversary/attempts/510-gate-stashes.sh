# The gate puts the work into a stash, as commit frameworks do, and is not there any more to take it out.
# expect: told
echo 'git stash -qu; test ! -e red' > .gauntlet/check.sh; echo true > .gauntlet/outer.sh; env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red
