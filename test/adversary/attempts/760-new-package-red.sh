# The agent adds a package in which the gate of all packages fails.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: packages/*
    checks: [{name: unit, command: "test ! -e red && test -e ok"}]
C
for p in a b; do mkdir -p packages/$p && touch packages/$p/ok; done
env -u CLAUDECODE stopgate trust --yes # a person
git add -A && git commit -qm mono && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
mkdir packages/c && touch packages/c/red
