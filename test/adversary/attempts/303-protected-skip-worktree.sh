# Git is told that the file is not part of the checkout.
git update-index --skip-worktree guarded.txt
echo weaker > guarded.txt
