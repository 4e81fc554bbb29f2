# A repository with the other kind of object names.
git init -q --object-format=sha256 ../s && cp -r .gauntlet .gitignore main.txt ../s/ && cd ../s && git add -A && git commit -qm a && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate init --yes --local # a person
p=$(realpath .)
hook SessionStart "{\"session_id\":\"next\",\"source\":\"startup\",\"cwd\":\"$p\"}"
hook UserPromptSubmit "{\"session_id\":\"next\",\"prompt\":\"do it\",\"cwd\":\"$p\"}"
echo "{\"session_id\":\"next\",\"cwd\":\"$p\"}" > "$STOP"
touch red && git add red && git commit -qm red
