# Files stand where the directories of the ledger, the blocks and the journal should be.
touch red
for d in ledger blocks journal; do rm -rf "$STATE/$d"; touch "$STATE/$d"; done
