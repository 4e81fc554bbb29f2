# A folder with brackets in its name is excluded, and its neighbour is not.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: app
    exclude: ["app/[id]"]
    checks: [{name: unit, command: "test ! -e i/red"}]
C
mkdir -p "app/i" "app/[id]" && echo a > app/i/a && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch app/i/red
