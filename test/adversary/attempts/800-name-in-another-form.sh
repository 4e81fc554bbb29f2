# The name of the red file is written with other code points, which git is told to take for the same.
echo '! ls | grep -q "^re"' >> .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git config core.precomposeUnicode true
touch "$(printf 're\314\201d')"
