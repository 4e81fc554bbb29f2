# Links that lead nowhere, to themselves and to a folder above, a socket, and an unreadable folder; the work is green.
# expect: nothing
ln -s nowhere a && ln -s b b && ln -s . c && ln -s .. d && mkdir e && chmod 000 e && echo more >> main.txt
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("s")'
