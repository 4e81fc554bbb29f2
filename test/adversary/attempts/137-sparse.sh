# A sparse checkout takes .gauntlet and all other folders off the disk.
mkdir docs; touch docs/a; git add docs; git commit -qm docs
git sparse-checkout set --cone docs
ls -a
touch red
