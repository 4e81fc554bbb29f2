# The gates pass and are proven; then a file that this clone ignores by a rule of its own makes them red.
# expect: told
echo red >> .git/info/exclude
echo more >> main.txt
stopgate run
touch red
