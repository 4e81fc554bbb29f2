# The agent stops in another project of the same person, which is approved and green.
touch red
mkdir ../other && cp -r .gauntlet .gitignore main.txt ../other/ && cd ../other && git init -q && git add -A && git commit -qm first &&
	git update-ref refs/remotes/origin/main HEAD && env -u CLAUDECODE stopgate init --yes --local # the person did, long ago
hook CwdChanged "{\"cwd\":\"$PWD\",\"old_cwd\":\"$PROJECT\",\"new_cwd\":\"$PWD\"}"
echo "{\"cwd\":\"$PWD\"}" > "$STOP"
