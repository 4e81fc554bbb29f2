# A submodule that git was told to ignore is changed and makes the work red, after a run that found nothing to do.
echo '! grep -rqs bad lib' >> .gauntlet/check.sh # a person's gate, who approves it
git init -q ../lib && echo good > ../lib/a && git -C ../lib add -A && git -C ../lib commit -qm a
git -c protocol.file.allow=always submodule --quiet add ../lib lib
git add -A
git commit -qam gate && git update-ref refs/remotes/origin/main HEAD
env -u CLAUDECODE stopgate trust --yes
stopgate run
git config submodule.lib.ignore all
git config diff.ignoreSubmodules all
echo bad > lib/a
git status --short
