# A build touches the protected file and changes modes that git does not know.
# expect: nothing
touch guarded.txt && chmod 600 guarded.txt && chmod 644 guarded.txt && echo more >> main.txt
