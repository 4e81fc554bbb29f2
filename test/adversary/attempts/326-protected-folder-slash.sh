# The person protects a folder by its name with a slash.
sed -i 's#guarded.txt#./tests/#' .gauntlet/config.yml && mkdir tests && echo a > tests/a && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm t && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo b > tests/a
