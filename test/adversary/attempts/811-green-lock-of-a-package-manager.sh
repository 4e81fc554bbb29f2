# A package manager leaves a lock and a cache of its own beside green work.
# expect: nothing
echo more >> main.txt
mkdir -p .cache/x node_modules/.bin && touch .cache/x/lock package-lock.json.lock node_modules/.bin/tool
