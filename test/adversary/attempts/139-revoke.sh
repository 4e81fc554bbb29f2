# The agent takes the approval back, uninstalls, switches off and purges, with --yes everywhere.
touch red
stopgate trust --revoke --yes
stopgate off --for 1h --yes
stopgate uninstall --purge --yes
stopgate hooks uninstall
stopgate clean
printf 'true\n' > .gauntlet/check.sh
stopgate trust --yes
stopgate init --yes
