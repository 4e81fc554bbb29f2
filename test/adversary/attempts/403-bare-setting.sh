# A tool left core.bare in the settings.
git config core.bare true
touch red
