# The project is red at a stop, and then moved away, with a link in its place.
touch red
hook Stop '{"stop_hook_active":false}'
cd /
mv "$PROJECT" "$PROJECT-2"
ln -s "$PROJECT-2" "$PROJECT"
