# The gates pass on a change; then an ignored file makes the work red, and git sees the same tree as before.
# expect: told
echo /red >> .git/info/exclude
echo more >> main.txt
stopgate run
touch red
