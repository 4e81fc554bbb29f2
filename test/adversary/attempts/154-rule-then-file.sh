# A rule goes into .gitignore and the gates pass; after the next prompt the file that it hides makes the work red.
# expect: told
echo red >> .gitignore
hook Stop '{"stop_hook_active":false}'
hook UserPromptSubmit '{"prompt":"more"}'
touch red
