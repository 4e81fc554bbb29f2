# What makes the work red is an empty directory, which git does not see.
# expect: out of reach: git does not list empty folders, so a pass does not depend on them
mkdir red
