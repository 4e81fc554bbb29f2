# Settings that hold on one branch only hide the file that makes the work red.
# expect: told
git config includeIf.onbranch:main.path ../../rules.config
printf '[core]\n\texcludesFile = %s\n[status]\n\tshowUntrackedFiles = no\n' "$(dirname "$PROJECT")/rules" > ../rules.config
echo red > ../rules
touch red
