for part in cart login; do
  echo "building $part"
  sleep 0.4
done
echo "built"
