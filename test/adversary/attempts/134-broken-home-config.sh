# A slip in ~/.gitconfig makes every git command fail.
echo '[user' >> "$HOME/.gitconfig"
touch red
