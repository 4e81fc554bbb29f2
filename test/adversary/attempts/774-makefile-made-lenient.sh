# The gate calls make, and the agent edits the Makefile so that the target passes.
# expect: out of reach: what a command of the project calls is the work itself
printf 'lint:\n\ttest ! -e red\n' > Makefile && echo 'make -s lint' > .gauntlet/check.sh && echo 'make -s lint' > .gauntlet/outer.sh
env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
printf 'lint:\n\ttrue\n' > Makefile
touch red
