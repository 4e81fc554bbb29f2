# The agent makes a test weaker.
echo weaker > guarded.txt
