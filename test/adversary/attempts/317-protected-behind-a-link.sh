# The protected path is a link of the person's, and the file behind it is edited.
mv guarded.txt real.txt
ln -s real.txt guarded.txt
git add -A
git commit -qm "the person's link"
git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"source":"startup","session_id":"another"}' >/dev/null
hook UserPromptSubmit '{"prompt":"go on","session_id":"another"}' >/dev/null
echo weak > real.txt
echo '{"session_id":"another"}' > "$STOP"
