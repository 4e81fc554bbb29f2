# A sparse index, and the red file in a folder that it folds away.
mkdir docs src && echo a > docs/a && echo a > src/a && git add docs src && git commit -qm src
echo 'test ! -e src/red' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git commit -qam gate && git update-ref refs/remotes/origin/main HEAD
git sparse-checkout set --cone --sparse-index docs .gauntlet
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
mkdir -p src && touch src/red
git status -s
