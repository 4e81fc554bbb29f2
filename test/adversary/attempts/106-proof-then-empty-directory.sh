# The gates pass on a change; then an empty directory makes the work red.
echo more >> main.txt
stopgate run
mkdir red
