# Every list of words is sorted, and has no word twice.
failed=0
for list in words/*; do
  LC_ALL=C sort -cu "$list" || failed=1
done
exit $failed
