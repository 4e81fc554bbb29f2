# An input is an ignored link, and the file that it leads to changes after the pass.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: .
    checks: [{name: page, command: "! grep -q bad .env", inputs: [".env", "main.txt"]}]
C
echo .env >> .gitignore && echo a > ../env && ln -s ../env .env && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> main.txt
hook Stop '{"session_id":"next","stop_hook_active":false}'
hook UserPromptSubmit '{"session_id":"next","prompt":"more"}'
echo bad > ../env && echo more >> guarded.txt
