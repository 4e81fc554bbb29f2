# The gates pass and are proven; then something that git never lists, a fifo, makes them red.
# expect: out of reach: git does not list pipes, so a pass does not depend on them
echo more >> main.txt
stopgate run
mkfifo red
