# The gate of one package generates a file of another one, which nothing else has changed and whose gate fails with it.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
quiet: true
entry_points:
  - path: a
    checks: [{name: unit, command: "test ! -e red"}]
  - path: b
    checks: [{name: generate, command: "touch ../a/red"}]
C
mkdir a b && echo a > a/a && echo b > b/b && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> b/b
