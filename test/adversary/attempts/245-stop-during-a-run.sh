# Gates that began on green work still run in the background when the agent, whose work is red by now, stops.
printf 'test ! -e red; r=$?; sleep 3; exit $r\n' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes # the person wrote that, long ago
echo more >> main.txt
setsid stopgate run > /dev/null 2>&1 < /dev/null &
sleep 1
touch red
