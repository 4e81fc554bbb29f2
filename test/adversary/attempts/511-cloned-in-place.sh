# The agent commits, pushes, deletes the folder and clones it again to the same place.
git init -q --bare ../origin.git && git push -q ../origin.git main
touch red && git add red && git commit -qm red && git push -q ../origin.git main
cd .. && rm -rf project && git clone -q origin.git project
