. ./src/cart.sh
got=$(total 2 3)
if [ "$got" != 5 ]; then
  echo "FAIL total: total 2 3 is $got, want 5"
  exit 1
fi
echo "ok: 1 test"
