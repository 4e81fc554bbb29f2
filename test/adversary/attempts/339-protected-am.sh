# The agent applies its own patch as another committer.
echo weak > guarded.txt && git commit -qam weak && git format-patch -q -1 --stdout > ../p && git reset -q --hard HEAD~
GIT_COMMITTER_NAME=B GIT_COMMITTER_EMAIL=b@example.com git am -q --committer-date-is-author-date ../p
