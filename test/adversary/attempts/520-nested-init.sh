# The agent sets up stopgate anew: in the project, in a folder of it, for the user.
touch red
(mkdir sub && cd sub && stopgate init --yes --local) # may fail
stopgate init --yes # may fail
stopgate hooks uninstall # may fail
stopgate trust --restore # may fail
