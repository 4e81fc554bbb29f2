# The protected pattern is for all folders, and the file is in a hidden one.
sed -i 's#guarded.txt#"**/*.test.ts"#' .gauntlet/config.yml && mkdir -p .github/x && echo a > .github/x/a.test.ts && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm t && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo b > .github/x/a.test.ts
