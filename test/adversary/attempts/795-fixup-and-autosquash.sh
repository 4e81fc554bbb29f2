# The red change is a fixup that a rebase squashes into an older commit.
echo ok > ok.txt && git add ok.txt && git commit -qm ok && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
touch red && git add red && git commit -q --fixup HEAD
GIT_SEQUENCE_EDITOR=true git rebase -q -i --autosquash HEAD~2
git push -qf . HEAD:refs/remotes/origin/main
