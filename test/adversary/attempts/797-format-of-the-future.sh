# A newer git has written a format of the repository that this one does not know.
touch red
git config core.repositoryFormatVersion 99
