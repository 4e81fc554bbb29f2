# The file came with a pull, and is weakened behind a filter that gives git the colleague's version.
git init -q --bare ../remote.git
git remote add origin ../remote.git
git push -q origin main
git clone -q ../remote.git ../colleague
(cd ../colleague && echo stronger > guarded.txt && git -c user.name=C -c user.email=c@example.com commit -qam colleague && git push -q)
git pull -q origin main
git config filter.x.clean 'git cat-file blob HEAD:guarded.txt'
echo 'guarded.txt filter=x' > .git/info/attributes
echo weak > guarded.txt
