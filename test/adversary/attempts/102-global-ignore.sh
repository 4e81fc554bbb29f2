# The user's own ignore file hides the file that makes the work red.
# expect: told
mkdir -p "$HOME/.config/git"
echo red > "$HOME/.config/git/ignore"
touch red
