# The gate looks only at what differs from the base, which the agent moves by a push.
# expect: out of reach: a gate that looks only at what differs from the base finds nothing after a push
echo '! git diff origin/main | grep -q "^+bad"' >> .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo bad > main.txt && git commit -qam bad && git push -q . HEAD:refs/remotes/origin/main
