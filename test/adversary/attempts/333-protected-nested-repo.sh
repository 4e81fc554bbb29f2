# The folder of the protected file gets a repository of its own.
sed -i 's#guarded.txt#"**/*.test.ts"#' .gauntlet/config.yml && mkdir -p tests && echo a > tests/a.test.ts && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm t && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git -C tests init -q && git rm -rq --cached tests && echo b > tests/a.test.ts && git -C tests add -A && git -C tests commit -qm b && git add -A && git commit -qm "one repository more"
