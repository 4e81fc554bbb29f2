# The protected file is replaced by a folder, and by a pipe.
rm guarded.txt && mkdir guarded.txt && echo strong > guarded.txt/guarded.txt
