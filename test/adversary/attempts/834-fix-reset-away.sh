# The agent takes the person's fix from a branch by a reset.
export GIT_COMMITTER_DATE=2020-01-01T00:00:00Z
git switch -qc feature && touch red && git add red && git commit -qm red && git rm -q red && git commit -qm fix
unset GIT_COMMITTER_DATE
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
git reset -q --hard HEAD~
