# The session stops in the root of the file system, after it went there.
touch red
hook CwdChanged "{\"old_cwd\":\"$PROJECT\",\"new_cwd\":\"/\",\"cwd\":\"/\"}"
echo '{"cwd":"/"}' > "$STOP"
