# A submodule of a submodule has a new red file.
echo 'test ! -e sub/inner/red' > .gauntlet/check.sh && cp .gauntlet/check.sh .gauntlet/outer.sh # a person's gate, who approves it
git init -q ../inner && echo a > ../inner/a && git -C ../inner add -A && git -C ../inner commit -qm a
git init -q ../sub && git -C ../sub -c protocol.file.allow=always submodule --quiet add ../inner inner && git -C ../sub commit -qm inner
git -c protocol.file.allow=always submodule --quiet add ../sub sub && git -c protocol.file.allow=always submodule --quiet update --init --recursive
env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
test -e sub/inner/a && touch sub/inner/red
