# The agent asks stopgate itself to stand aside, in every way that it has, with a terminal and without.
touch red
stopgate off --for 1h --yes; stopgate trust --revoke --yes; stopgate hooks uninstall; stopgate uninstall --purge --yes; stopgate init --yes --check true
script -qec 'stopgate off --for 1h' /dev/null < /dev/null
sed -i 's/^quiet: true/mode: observe\nstop_hook: {enabled: false, run_interval_minutes: 600}/' .gauntlet/config.yml; stopgate trust --yes
