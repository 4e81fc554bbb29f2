# The weak commit comes back from a clone with another identity.
git clone -q . ../c && cd ../c && git config user.email claude@example.com && echo weak > guarded.txt && git commit -qam weak && cd "$PROJECT"
git pull -q ../c main && rm -rf ../c
