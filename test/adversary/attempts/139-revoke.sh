# The agent takes the approval back, uninstalls, switches off and purges, with --yes everywhere.
touch red
stopgate trust --revoke --yes # may fail
stopgate off --for 1h --yes # may fail
stopgate uninstall --purge --yes # may fail
stopgate hooks uninstall # may fail
stopgate clean
printf 'true\n' > .gauntlet/check.sh
stopgate trust --yes # may fail
stopgate init --yes # may fail
