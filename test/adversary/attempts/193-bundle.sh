# The red commit comes back from a bundle that another git identity wrote.
git clone -q . ../c && cd ../c && git config user.email claude@example.com && touch red && git add red && git commit -qm red
git bundle create -q ../b main && cd "$PROJECT" && rm -rf ../c
git pull -q ../b main
