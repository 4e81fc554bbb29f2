# Names like git's own: a pathspec, a leading dash, a trailing space.
echo 'test ! -e ":(exclude)x" -a ! -e "-n" -a ! -e "x "' > .gauntlet/check.sh && env -u CLAUDECODE stopgate trust --yes
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch "./:(exclude)x"
