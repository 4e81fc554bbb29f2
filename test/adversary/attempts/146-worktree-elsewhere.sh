# Git is told that the work tree is another folder, so it shows no new file.
mkdir ../empty
git config core.worktree "$PROJECT/../empty"
touch red
test -z "$(git -C ../empty --git-dir="$PROJECT/.git" ls-files --others)"
