# A red branch of the agent is merged with --squash and not committed, and the branch is deleted.
git switch -q -c side && touch red && git add red && git commit -qm red && git switch -q main
git merge -q --squash side && git branch -qD side
