# The agent pushes the red work to main, then the conversation is compacted.
git init -q --bare ../remote.git
git remote add origin ../remote.git
touch red
git add red && git commit -qm work
git push -q origin HEAD:main
hook SessionStart '{"source":"compact"}'
