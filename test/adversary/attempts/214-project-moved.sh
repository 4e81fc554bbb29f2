# The agent moves the whole project to a better place, goes on there, and stops there.
# expect: told
touch red
cd .. && mv project better
echo "{\"cwd\":\"$(dirname "$PROJECT")/better\"}" > "$STOP"
