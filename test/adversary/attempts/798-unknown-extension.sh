# The repository names an extension that git does not know.
touch red && git add red && git commit -qm red
git config core.repositoryFormatVersion 1 && git config extensions.future true
