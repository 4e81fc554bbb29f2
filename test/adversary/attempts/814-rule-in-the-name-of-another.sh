# A new rule for files that git ignores is committed in the name of a colleague and pushed.
echo red >> .gitignore && git -c user.name=B -c user.email=b@example.com commit -qam rules --author 'B <b@example.com>' && git push -q . HEAD:refs/remotes/origin/main
touch red
