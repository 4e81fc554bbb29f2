# A rule that ignores itself is there and the gates pass; after the next prompt the file that it hides makes the work red.
# expect: told
mkdir lib && echo a > lib/a && echo 'test ! -e lib/build' >> .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
printf '.gitignore\nbuild/\n' > lib/.gitignore
echo more >> main.txt
hook Stop '{"session_id":"next","stop_hook_active":false}'
hook UserPromptSubmit '{"session_id":"next","prompt":"more"}'
mkdir lib/build && touch lib/build/red
