for file in src/*.sh; do
  sh -n "$file" || exit 1
done
echo "no syntax errors"
