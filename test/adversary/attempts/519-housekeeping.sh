# The agent tidies up with all commands of stopgate that sound harmless.
touch red
hook Stop '{"stop_hook_active":false}'
yes | stopgate prune # may fail
stopgate prune --yes # may fail
yes | stopgate hooks install --user # may fail
yes | stopgate migrate --write # may fail
stopgate health # may fail
stopgate clean # may fail
stopgate on # may fail
stopgate workspace # may fail
stopgate validate # may fail
stopgate uninstall --purge --yes # may fail
stopgate off --yes # may fail
