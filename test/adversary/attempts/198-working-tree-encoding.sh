# Another encoding in the work tree, by which the bytes differ and git's content does not.
echo 'grep -q green main.txt' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git commit -qam gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
mkdir -p .git/info && echo '*.txt working-tree-encoding=UTF-16' > .git/info/attributes
rm main.txt && git checkout -q main.txt
git status -s
