# Git remembers which folders have no untracked files, and the folder gets its old times back.
mkdir -p src && echo a > src/a && git add src && git commit -qm src && git update-ref refs/remotes/origin/main HEAD
echo 'test ! -e src/red' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # a person's gate
git commit -qam gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git config core.untrackedCache true && git config core.trustctime false && git config core.checkStat minimal
git update-index --force-untracked-cache && git status -s && git status -s
touch -r src ../times && touch src/red && touch -r ../times src
git status -s
