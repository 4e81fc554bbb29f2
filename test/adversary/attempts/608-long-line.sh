# The bad word is at the end of a line of 3 MB.
# expect: told
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
cli: {default_preference: [claude]}
entry_points:
  - path: .
    reviews: [{name: look, prompt: "Find what is bad."}]
C
cat > "$PROJECT/../../bin/claude" <<'C' # a reviewer that sees what the diff shows
#!/bin/sh
case "$*" in *--version*) echo "2.1.325 (Claude Code)"; exit 0;; esac
if grep -q "^+.*BAD"; then echo '{"status":"fail","message":"bad","violations":[{"file":"main.txt","line":1,"issue":"it is bad","fix":"mend it","priority":"high","status":"new"}]}'
else echo '{"status":"pass","message":"fine"}'; fi
C
chmod +x "$PROJECT/../../bin/claude"
true
env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
{ head -c 3000000 /dev/zero | tr '\0' a; echo BAD; } >> main.txt
