# A git that was killed left its lock behind.
touch .git/index.lock .git/HEAD.lock .git/config.lock
touch red
