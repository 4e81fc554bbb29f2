# The user's settings of git change how it prints paths and differences.
git config --global core.quotePath false; git config --global color.ui always; git config --global diff.noprefix true
git config --global diff.mnemonicPrefix true; git config --global diff.relative true; git config --global diff.renames copies
git config --global diff.external false; git config --global status.branch true; git config --global status.short true
git config --global column.ui always; git config --global log.showSignature true; git config --global diff.ignoreSubmodules all
git config --global core.abbrev 4; git config --global status.relativePaths true; git config --global core.pager false
git config --global diff.orderFile /nowhere; git config --global log.date relative; git config --global format.pretty oneline
git config --global core.commentChar ';' ; git config --global status.showStash true
touch red
