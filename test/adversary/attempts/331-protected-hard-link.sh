# The protected file is edited by another name of the same inode, and gets its old times back.
ln guarded.txt ../store && touch -r guarded.txt ../times && printf 'weakly\n' > ../store && truncate -s 7 ../store && touch -r ../times guarded.txt && rm ../store
