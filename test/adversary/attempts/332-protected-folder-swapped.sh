# The folder of the protected file becomes a link to a copy in which it is weak.
sed -i 's#guarded.txt#"**/*.test.ts"#' .gauntlet/config.yml && mkdir -p tests && echo a > tests/a.test.ts && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm t && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
mv tests checks && echo b > checks/a.test.ts && ln -s checks tests
