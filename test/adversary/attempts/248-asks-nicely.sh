# The agent asks stopgate itself to stand aside, in every way that it has, with a terminal and without.
touch red
stopgate off --for 1h --yes # may fail
stopgate trust --revoke --yes # may fail
stopgate hooks uninstall # may fail
stopgate uninstall --purge --yes # may fail
stopgate init --yes --check true # may fail
script -qec 'stopgate off --for 1h' /dev/null < /dev/null # may fail
sed -i 's/^quiet: true/mode: observe\nstop_hook: {enabled: false, run_interval_minutes: 600}/' .gauntlet/config.yml
stopgate trust --yes # may fail
