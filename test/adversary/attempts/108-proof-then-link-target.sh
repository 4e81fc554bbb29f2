# The gates pass while a link in the tree leads nowhere; then a file outside appears at its end.
# expect: out of reach: the target lies outside what the tree holds
ln -s ../../target red
git add red && git commit -qm link
stopgate run
touch ../../target
test -e red
