# The gate compares with the base by checking it out, and is not there any more to come back.
# expect: told
echo 'git checkout -q --detach origin/main; test ! -e red' > .gauntlet/check.sh; echo true > .gauntlet/outer.sh; env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red && git add red && git commit -qm red
