# The agent runs the gates by hand with variables by which make ignores failures, and that pass is to stand.
# expect: out of reach: a pass holds for the content; a variable that a gate depends on is named under env
printf 'lint:\n\ttest ! -e red\n' > Makefile && echo 'make -s lint' > .gauntlet/check.sh && echo 'make -s lint' > .gauntlet/outer.sh
env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red
MAKEFLAGS=-i stopgate run
