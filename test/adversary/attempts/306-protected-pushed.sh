# The change is committed and pushed, so the base branch has it.
echo weaker > guarded.txt
git commit -qam 'weaker'
git update-ref refs/remotes/origin/main HEAD
