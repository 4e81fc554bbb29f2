# The folder of an entry point is moved, and its check would run in the folder above, where it passes.
mkdir src && echo 1 > src/f
printf 'quiet: true\nbase_branch: origin/main\nentry_points:\n  - path: src\n    checks:\n      - {name: unit, command: test ! -e red}\n' > .gauntlet/config.yml
env -u CLAUDECODE stopgate trust --yes # the project of a person
git add -A && git commit -qm src && git update-ref refs/remotes/origin/main HEAD
echo 2 > src/f
stopgate run
mv src code && touch code/red
