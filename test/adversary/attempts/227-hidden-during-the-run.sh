# What is red is put aside while the gates look, and is back before they end.
# expect: out of reach: a process that hides work while a gate looks, and puts it back
printf 'sleep 1; test ! -e red; r=$?; sleep 2; exit $r\n' > .gauntlet/check.sh && printf 'sh .gauntlet/check.sh\n' > .gauntlet/outer.sh
sed -i 's/  - {name: second.*//; s/^ *- {name: first.*/      - {name: first, command: sh .gauntlet\/check.sh}/' .gauntlet/config.yml && sed -i '/^ *$/d' .gauntlet/config.yml
env -u CLAUDECODE stopgate trust --yes # the person wrote that, long ago
touch red
stopgate run &
sleep 0.4; mv red "$TMPDIR/red"; sleep 1.6; mv "$TMPDIR/red" red
wait
