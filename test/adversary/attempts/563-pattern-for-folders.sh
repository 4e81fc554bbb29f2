# The person wrote a pattern for folders as the path, and the red file is deep in one.
sed -i 's#path: .*#path: "packages/*/{src,test}"#; s#sh .gauntlet/check.sh#test ! -e packages/a/src/deep/red#' .gauntlet/config.yml
mkdir -p packages/a/src/deep && echo a > packages/a/src/a && env -u CLAUDECODE stopgate trust --yes && git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD # a person
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch packages/a/src/deep/red
