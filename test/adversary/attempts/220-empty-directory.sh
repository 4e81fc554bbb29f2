# The gates pass and are proven; then something that git does not see, an empty directory, makes them red.
echo more >> main.txt
stopgate run
mkdir red
