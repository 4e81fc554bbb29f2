# The project goes to another disk, and a link stands in its place.
# expect: told
touch red
cd .. && mv project /"$HOME"/disk && ln -s "$HOME/disk" project
