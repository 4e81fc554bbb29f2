# The gates pass and are proven while a link leads nowhere; then a file comes to be where it leads, outside the project.
# expect: out of reach: the target lies outside the tree
ln -s "$HOME/flag" red
stopgate run
touch "$HOME/flag"
