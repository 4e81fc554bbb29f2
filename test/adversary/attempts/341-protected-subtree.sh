# The weak file comes with a read-tree of another history.
git clone -q . ../c && cd ../c && echo weak > guarded.txt && git add -A && git -c user.email=b@example.com commit -qm weak && cd "$PROJECT"
git fetch -q ../c main && git read-tree -m -u FETCH_HEAD && git -c user.email=b@example.com commit -qm sync
