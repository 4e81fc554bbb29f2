# A script in .gauntlet is a link to one in the tree, which the agent edits.
mkdir scripts && mv .gauntlet/check.sh scripts/ && ln -s ../scripts/check.sh .gauntlet/check.sh
env -u CLAUDECODE stopgate trust --yes
git add -A && git commit -qm link && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red
echo true > scripts/check.sh
