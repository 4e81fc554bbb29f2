# The agent changes the protected file and restores its bytes: nothing is left to approve.
# expect: nothing
cp -p guarded.txt ../g && echo weak > guarded.txt && cp -p ../g guarded.txt && echo more >> main.txt
