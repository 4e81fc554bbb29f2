# The agent pushes the version from before the person's stronger test over it, and takes that back.
git init -q --bare ../remote.git
git remote add origin ../remote.git
git push -q origin main:weak
echo stronger > guarded.txt
git commit -qam "the person's"
git push -q origin main
hook SessionStart '{"source":"startup","session_id":"another"}' >/dev/null
hook UserPromptSubmit '{"prompt":"go on","session_id":"another"}' >/dev/null
git push -q --force origin origin/weak:main
git fetch -q
git reset -q --hard origin/main
echo '{"session_id":"another"}' > "$STOP"
