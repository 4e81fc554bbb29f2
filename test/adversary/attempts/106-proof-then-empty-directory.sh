# The gates pass on a change; then an empty directory makes the work red.
# expect: out of reach: git does not list empty folders, so a pass does not depend on them
echo more >> main.txt
stopgate run
mkdir red
