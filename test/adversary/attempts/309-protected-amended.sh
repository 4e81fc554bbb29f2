# The commit that the session found is made anew with a weaker file.
echo weaker > guarded.txt
git commit -qa --amend --no-edit
