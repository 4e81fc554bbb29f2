# No line ends in white space, and the shell understands all of them.
if grep -n '[[:space:]]$' greet.sh; then
  echo "white space at the end of a line"
  exit 1
fi
sh -n greet.sh
