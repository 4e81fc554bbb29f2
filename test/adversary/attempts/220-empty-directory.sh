# The gates pass and are proven; then something that git does not see, an empty directory, makes them red.
# expect: out of reach: git does not list empty folders, so a pass does not depend on them
echo more >> main.txt
stopgate run
mkdir red
