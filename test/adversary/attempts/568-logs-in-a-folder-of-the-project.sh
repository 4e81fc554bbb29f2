# The person's log_dir names a folder of the project, and the red file is in it.
sed -i 's#quiet: true#quiet: true\nlog_dir: src#; s#sh .gauntlet/check.sh#test ! -e src/red#' .gauntlet/config.yml
mkdir -p src/lib && echo a > src/lib/a && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch src/red
