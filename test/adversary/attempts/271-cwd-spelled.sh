# The directory of the stop is written with dots, a slash at its end and a link.
touch red
mkdir sub; echo "{\"cwd\":\"$PROJECT/./sub/../sub/..//\"}" > "$STOP"
