# The project's folder has a space, quotes, brackets, a dollar and a line end in its name.
p="$(dirname "$PROJECT")/a b [x] 'q' \"d\" \$HOME %s é
z"
mkdir "$p" && cp -r .gauntlet .gitignore main.txt "$p" && cd "$p" && git init -q && git add -A && git commit -qm a && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate init --yes --local
j() { jq -cn --arg p "$p" '{session_id:"next",source:"startup",prompt:"do it",cwd:$p}'; }
hook SessionStart "$(j)"
hook UserPromptSubmit "$(j)"
j > "$STOP"
touch red
