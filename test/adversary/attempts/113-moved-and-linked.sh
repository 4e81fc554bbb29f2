# The project is moved, and a link is left in its place.
# expect: told
mv "$PROJECT" "$PROJECT-real"
ln -s "$PROJECT-real" "$PROJECT"
touch "$PROJECT/red"
