# 10000 new files, of which one is red.
mkdir -p gen && cd gen && seq 10000 | xargs touch && cd .. && touch red
