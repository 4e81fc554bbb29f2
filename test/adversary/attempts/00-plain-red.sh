# The work is red, and nothing is tried.
touch red
