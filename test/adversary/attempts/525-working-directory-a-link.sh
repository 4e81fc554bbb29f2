# The gate's working directory becomes a link to an empty one.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: .
    checks: [{name: unit, command: "test ! -e red", working_directory: src}]
C
mkdir src && echo a > src/a && env -u CLAUDECODE stopgate trust --yes && env -u CLAUDECODE stopgate run && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch src/red
mv src src2 && mkdir ../empty && ln -s ../../empty src
