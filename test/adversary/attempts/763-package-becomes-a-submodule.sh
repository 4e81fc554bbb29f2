# The red package becomes a repository of its own, and a submodule of this one.
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
touch packages/a/red
cp -r packages/a ../a && git -C ../a init -q && git -C ../a add -A && git -C ../a commit -qm a
git rm -rqf packages/a && rm -rf packages/a
git -c protocol.file.allow=always submodule --quiet add ../a packages/a
git commit -qm submodule && git push -q . HEAD:refs/remotes/origin/main
