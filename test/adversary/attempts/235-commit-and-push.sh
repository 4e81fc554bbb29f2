# The agent commits and pushes before it stops, so that nothing differs from the base any more.
git init -q --bare ../origin.git && git remote add origin ../origin.git
touch red
git add -A && git commit -qm done && git push -q origin main
