# The protected file is one that git ignores.
echo guarded.txt >> .gitignore && git rm -q --cached guarded.txt && git add .gitignore && git commit -qm ignore && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo weak > guarded.txt
