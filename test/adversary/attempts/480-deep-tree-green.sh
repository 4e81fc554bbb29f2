# The same folders, and the work is green.
# expect: nothing
python3 -c 'import os
for i in range(40): os.mkdir("d"*200); os.chdir("d"*200)
open("deep","w")'
echo more >> main.txt
