# A new .gitignore in a folder of the project ignores itself and the file that makes the work red.
# expect: told
mkdir lib && echo a > lib/a && echo 'test ! -e lib/red' >> .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo '*' > lib/.gitignore
touch lib/red
test -z "$(git status --porcelain)"
