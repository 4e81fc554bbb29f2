# The work is committed in a worktree with a date from before the session, the worktree is removed, and the branch only checked out.
# expect: out of reach: a commit is known by its date and its committer, which the agent can choose
git worktree add -q ../feat -b feat
(cd ../feat && touch red && git add red && GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' git commit -qm red)
git worktree remove ../feat
git checkout -q feat
