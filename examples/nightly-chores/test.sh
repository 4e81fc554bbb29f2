# What is listed as dead is gone.
while read -r name; do
  [ ! -e "$name" ] || { echo "$name is still there"; exit 1; }
done < chores.txt
