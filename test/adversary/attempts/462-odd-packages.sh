# Packages with a parenthesis, a quote, a dash, a star and a line end in their names; each is made red once.
cat > .gauntlet/config.yml <<'C'
base_branch: origin/main
max_retries: 20
entry_points:
  - path: packages/*
    checks: [{name: unit, command: "test ! -e red"}]
C
each() { for p in "(group)" "it's" "-dash" ".dot" '$HOME' 'x*y' "nl
x"; do "$1"; done; }
make() { mkdir -p "packages/$p" && echo a > "packages/$p/a"; }
each make && env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
red() { touch "packages/$p/red"; hook Stop '{"session_id":"next","stop_hook_active":false}' > ../answer; echo "$p: $(cut -c1-100 ../answer)"; grep -q '"decision":"block"' ../answer; rm "packages/$p/red"; }
each red
touch 'packages/(group)/red'
