# The work is pushed from a clone by another git identity, fetched, and only checked out.
# expect: out of reach: a commit is known by its date and its committer, which the agent can choose
git init -q --bare ../remote.git && git remote add origin ../remote.git && git push -q origin main
git clone -q ../remote.git ../c && cd ../c && git config user.email claude@example.com && git checkout -qb theirs && touch red && git add red && git commit -qm red && git push -q origin theirs
cd "$PROJECT" && rm -rf ../c && git fetch -q
git checkout -q -b theirs origin/theirs
