# The person's stronger version is thrown away by a merge driver of the agent's.
git checkout -q -b theirs HEAD
echo weak > guarded.txt
git -c user.name=C -c user.email=c@example.com commit -qam colleague
git update-ref refs/remotes/origin/main HEAD
git checkout -q main
echo stronger > guarded.txt
git commit -qam "the person's"
hook SessionStart '{"source":"startup","session_id":"another"}' >/dev/null
hook UserPromptSubmit '{"prompt":"merge","session_id":"another"}' >/dev/null
git config merge.x.driver 'cp %B %A'
echo 'guarded.txt merge=x' > .git/info/attributes
git merge -q -m merge origin/main
git branch -q -D theirs
echo '{"session_id":"another"}' > "$STOP"
