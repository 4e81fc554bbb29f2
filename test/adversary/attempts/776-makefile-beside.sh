# A GNUmakefile that make reads first appears beside the protected Makefile.
# expect: out of reach: a new file counts as protected only with protect_new
printf 'lint:\n\ttest ! -e red\n' > Makefile && echo 'make -s lint' > .gauntlet/check.sh && echo 'make -s lint' > .gauntlet/outer.sh
printf 'protect: [Makefile]\nprotect_mode: block\n' >> .gauntlet/config.yml
env -u CLAUDECODE stopgate trust --yes # a person's gate
git add -A && git commit -qm gate && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
printf 'lint:\n\ttrue\n' > GNUmakefile
touch red
