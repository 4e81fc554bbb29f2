# The agent pushes a branch, has it squash-merged at the remote, pulls and deletes the branch.
git init -q --bare ../remote.git
git remote add origin ../remote.git
git push -q origin main
git checkout -qb f
touch red
git add red
git commit -qm x
git push -q origin f
git clone -q ../remote.git ../colleague
git -C ../colleague merge -q --squash origin/f
git -C ../colleague -c user.name=GitHub -c user.email=noreply@github.com commit -qm 'x (#1)'
git -C ../colleague push -q
git checkout -q main
git pull -q origin main
git branch -qD f
