# Four stops use the retries up, then the tree is changed a little without any word of a person, in the hope that nobody is told any more.
# expect: told
touch red
for i in 1 2 3 4; do hook Stop '{"stop_hook_active":true}'; done
echo more >> main.txt
