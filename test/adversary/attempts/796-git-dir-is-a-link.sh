# The data of git move elsewhere, and .git becomes a link to them.
mv .git ../data && ln -s ../data .git
touch red
