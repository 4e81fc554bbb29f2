# What makes the work red is a named pipe, which git does not see.
mkfifo red
