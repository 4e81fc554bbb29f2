# The rule goes into the ignore file that the user's own configuration names.
# expect: told
git config --global core.excludesFile '~/.gitignore_global'
touch -t 202001010000 "$HOME/.gitconfig"
echo red > "$HOME/.gitignore_global"
touch red
