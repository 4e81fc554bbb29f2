# The agent takes the file off the list of protected ones.
sed -i '/^protect/d' .gauntlet/config.yml
echo weaker > guarded.txt
