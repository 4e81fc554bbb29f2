# A tool made folders so deep that no path reaches the end.
python3 -c 'import os
for i in range(40): os.mkdir("d"*200); os.chdir("d"*200)
open("deep","w")'
touch red
