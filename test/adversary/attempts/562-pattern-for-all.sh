# The person wrote a pattern for all files as the path, and the red file is at the top.
sed -i 's#path: .*#path: "**"#' .gauntlet/config.yml && mkdir -p src && echo a > src/a && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red src/red
