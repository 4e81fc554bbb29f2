# A cherry-pick of several commits has stopped in a conflict, and the red one waits.
# expect: told
git switch -qc side
echo a > main.txt && git commit -qam a
touch red && git add red && git commit -qm red
git switch -q main && echo b > main.txt && git commit -qam b
s=$(git rev-parse side) && git branch -qD side
git cherry-pick $s~ $s # may fail
echo both > main.txt
