# The gate takes untracked files away, as git clean does, and passes without them.
# expect: told
echo 'git clean -qfd; test ! -e red' > .gauntlet/check.sh; echo true > .gauntlet/outer.sh; env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red
