# Editors, systems and tools leave their files beside the work: swap files, .DS_Store, backups, and a lock that is a dangling link.
# expect: nothing
touch .main.txt.swp main.txt~ .DS_Store '#main.txt#' 4913 Thumbs.db && ln -s 'user@host.123:456' .#main.txt && echo more >> main.txt
