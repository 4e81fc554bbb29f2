# The protected file is replaced by a pipe.
rm guarded.txt && mkfifo guarded.txt
