# A person's editor wrote the config with a byte order mark and CRLF.
{ printf '\357\273\277'; sed 's/$/\r/' .gauntlet/config.yml; } > ../c && cp ../c .gauntlet/config.yml
env -u CLAUDECODE stopgate trust --yes
git commit -qam crlf && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red
