# The work is done in a clone by another git identity, fetched, and only checked out.
git clone -q . ../c && cd ../c && git config user.email claude@example.com && touch red && git add red && git commit -qm red
cd "$PROJECT" && git fetch -q ../c main:theirs && rm -rf ../c
git checkout -q theirs
