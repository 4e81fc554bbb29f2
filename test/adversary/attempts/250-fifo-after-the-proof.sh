# The gates pass and are proven; then something that git never lists, a fifo, makes them red.
echo more >> main.txt
stopgate run
mkfifo red
