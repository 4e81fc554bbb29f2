# The folder of an entry point is moved, and a link is left in its place: the gates still pass through it.
# expect: nothing
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
quiet: true
entry_points:
  - path: src
    checks: [{name: unit, command: "test ! -e red"}]
C
mkdir src && echo a > src/a && env -u CLAUDECODE stopgate trust --yes && env -u CLAUDECODE stopgate run && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git mv src lib && ln -s lib src && git add -A && git commit -qm moved
