# The file gets another name.
git mv guarded.txt old.txt
git commit -qm 'move'
