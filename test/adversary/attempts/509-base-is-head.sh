# The base branch of the config is HEAD.
sed -i 's#origin/main#HEAD#' .gauntlet/config.yml && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red && git add red && git commit -qm red && git commit -q --allow-empty -m more
