# A pipe stands where git looks for attributes.
mkfifo .gitattributes
touch red
