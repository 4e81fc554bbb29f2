# The exception for a file is taken out of .gitignore, and the gates pass; then the file makes the work red.
# expect: told
printf 're*\n!red\n' >> .gitignore
git commit -qam rules && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
sed -i.bak '/^!red/d' .gitignore && rm .gitignore.bak
hook Stop '{"session_id":"next","stop_hook_active":false}'
touch red
