# The project has no repository of its own: the one around it is for dotfiles, and ignores it.
cd "$HOME" && git init -q && printf '*\n!*/\n!.gitignore\n' > .gitignore && git add .gitignore && git commit -qm dotfiles
mkdir proj && cp -r "$PROJECT/.gauntlet" "$PROJECT/main.txt" proj && cd proj
env -u CLAUDECODE stopgate init --yes --local
env -u CLAUDECODE stopgate trust --yes
p=$(realpath .)
hook SessionStart "{\"session_id\":\"next\",\"source\":\"startup\",\"cwd\":\"$p\"}"
hook UserPromptSubmit "{\"session_id\":\"next\",\"prompt\":\"do it\",\"cwd\":\"$p\"}"
echo "{\"session_id\":\"next\",\"cwd\":\"$p\"}" > "$STOP"
touch red
