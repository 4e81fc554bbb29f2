# What makes the work red is an empty directory, which git does not see.
mkdir red
