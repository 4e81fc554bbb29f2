# The agent applies its own red patch with another name and old dates.
touch red && git add red && git commit -qm red && git format-patch -q -1 --stdout > ../p && git reset -q --hard HEAD~
GIT_COMMITTER_NAME=B GIT_COMMITTER_EMAIL=b@example.com git am -q --committer-date-is-author-date ../p
