# The whole state directory is deleted, approvals and all.
# expect: told
touch red
rm -rf "$STATE"
