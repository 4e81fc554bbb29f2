# The agent frees disk space and deletes our state directory.
# expect: out of reach: it deletes our state directory, approvals and all
touch red
rm -rf "$STATE"
