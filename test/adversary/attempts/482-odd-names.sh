# A name that is not text: bytes that are no UTF-8 and a line end, in the folder of an entry point.
sed -i 's/path: \./path: src/; s#sh .gauntlet#sh ../.gauntlet#' .gauntlet/config.yml
echo 'test -z "$(ls)"' > .gauntlet/check.sh; echo true > .gauntlet/outer.sh
env -u CLAUDECODE stopgate trust --yes; git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
mkdir src && touch "src/$(printf 'b\377d\nx')"
