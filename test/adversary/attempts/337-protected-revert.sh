# The agent takes back a colleague's commit that made the protected file stronger.
echo stronger > guarded.txt && git -c user.email=b@example.com commit -qam stronger && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git revert --no-edit HEAD
