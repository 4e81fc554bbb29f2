# The agent calls stop-hook in its shell to see whether it would pass, until the retries are used up.
# expect: told
touch red
for i in 1 2 3 4 5; do echo '{"cwd":"'"$PROJECT"'"}' | stopgate stop-hook; done
