# A gate itself rewrites the protected file, as one that updates snapshots.
echo 'test ! -e red; grep -q weak main.txt && echo weak > guarded.txt; true' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes
git add -A && git commit -qm t && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo weak > main.txt
