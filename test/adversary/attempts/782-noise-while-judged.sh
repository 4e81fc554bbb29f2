# A process of the agent writes a file ten times a second while the stop is judged, and the work is red.
(for i in $(seq 200); do date +%N > noise; sleep 0.1; done) > /dev/null 2>&1 < /dev/null &
touch red
