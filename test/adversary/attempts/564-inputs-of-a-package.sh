# A gate of packages/* names its inputs as it finds them in the package, and one of them changes after the pass.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
entry_points:
  - path: packages/*
    checks: [{name: page, command: "! grep -q bad src/a", inputs: ["src/**", package.json]}]
C
mkdir -p packages/p/src && echo a > packages/p/src/a && echo '{}' | tee package.json > packages/p/package.json && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> packages/p/src/a
hook Stop '{"session_id":"next","stop_hook_active":false}'
hook UserPromptSubmit '{"session_id":"next","prompt":"more"}'
echo bad > packages/p/src/a
