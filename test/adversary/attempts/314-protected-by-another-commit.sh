# A new branch from before the change, which takes over the weaker file only.
git checkout -q -b weaker
echo weaker > guarded.txt
git commit -qam 'weaker'
git checkout -q main
git checkout -q weaker -- guarded.txt
git commit -qm 'take it over'
