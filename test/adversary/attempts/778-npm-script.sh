# The gate is a script of package.json, which the agent edits.
# expect: out of reach: what a command of the project calls is the work itself
printf '{"name":"x","scripts":{"lint":"test ! -e red"}}' > package.json && echo 'npm run -s lint' > .gauntlet/check.sh && echo 'npm run -s lint' > .gauntlet/outer.sh
env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
printf '{"name":"x","scripts":{"lint":"true"}}' > package.json
touch red
