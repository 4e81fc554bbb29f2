# The gates pass while a link leads to a file of the log directory that is not there; then it appears.
# expect: out of reach: the target lies outside what the tree holds
ln -s gauntlet_logs/latest red
git add red && git commit -qm link
stopgate run
touch gauntlet_logs/latest
test -e red
