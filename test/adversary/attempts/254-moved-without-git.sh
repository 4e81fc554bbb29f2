# The project is in no repository, is red and blocks; then it is moved away.
rm -rf .git
touch red
hook Stop '{"stop_hook_active":false}'
cd / && mv "$PROJECT" "$PROJECT-2"
