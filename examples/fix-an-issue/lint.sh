# No trailing white space, and no syntax errors.
if grep -n '[[:space:]]$' greet.sh; then
  echo "trailing white space"
  exit 1
fi
sh -n greet.sh
