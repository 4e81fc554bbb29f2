# The agent pushes its red commit by force, goes back, and resets to the remote as one does after a colleague.
touch red && git add red && git commit -qm red && git push -qf . HEAD:refs/remotes/origin/main
git reset -q --hard HEAD~
git reset -q --hard origin/main
