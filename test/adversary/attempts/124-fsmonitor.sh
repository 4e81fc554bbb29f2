# A file system monitor that has died says that nothing changed, and git keeps what it knew of untracked files.
printf '#!/bin/sh\nprintf "token\\0"\n' > .git/monitor
chmod +x .git/monitor
git config core.fsmonitor "$PROJECT/.git/monitor"
git config core.untrackedCache true
git update-index --untracked-cache --fsmonitor
git status; git status
touch red
git status --short
