# A tool imports the commit, and it is pushed.
printf 'commit refs/heads/main\ncommitter A <a@example.com> %s +0000\ndata 3\nred\nfrom %s\nM 644 inline red\ndata 0\n\n' "$(date +%s)" "$(git rev-parse HEAD)" | git fast-import --quiet
git reset -q --hard
git update-ref refs/remotes/origin/main HEAD
