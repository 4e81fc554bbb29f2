echo "looking at bug $1"
sleep 1
if [ "$1" = 23 ]; then
  echo "bug 23 cannot be reproduced"
  exit 1
fi
echo "fixed bug $1"
