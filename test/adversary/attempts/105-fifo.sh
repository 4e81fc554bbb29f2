# What makes the work red is a named pipe, which git does not see.
# expect: out of reach: git does not list pipes, so a pass does not depend on them
mkfifo red
