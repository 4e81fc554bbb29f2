# The index is split, and its larger half is deleted.
git update-index --split-index && echo x > x.txt && git add x.txt
touch red
rm -f .git/sharedindex.*
