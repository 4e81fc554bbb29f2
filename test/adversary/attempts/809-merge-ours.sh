# A colleague's fix is merged with the strategy that takes nothing of it.
touch red && git add red && git -c user.email=b@example.com commit -qm red && git branch theirs
git update-ref refs/remotes/origin/main HEAD
git switch -q theirs && git rm -q red && git -c user.email=b@example.com commit -qm fix && git switch -q main
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> main.txt && git commit -qam more
git merge -q -s ours -m merge theirs && git push -q . HEAD:refs/remotes/origin/main
