# While the gates run in the background the agent goes on working: they began on green work, and pass.
printf 'test ! -e red; r=$?; sleep 2; exit $r\n' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # the person wrote that, long ago
echo more >> main.txt
stopgate run > /dev/null 2>&1 &
sleep 1
touch red
wait
