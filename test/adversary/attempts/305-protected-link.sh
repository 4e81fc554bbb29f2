# The file becomes a link to a weaker one.
echo weaker > weaker.txt
ln -sf weaker.txt guarded.txt
