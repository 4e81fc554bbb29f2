# Within one prompt the work is red, green, red, green, until the client's patience with blocks is used up.
# expect: told
for i in 1 2 3 4 5 6 7 8; do
	touch red; hook Stop '{"stop_hook_active":true}' | cut -c1-60
	rm red; echo $i >> main.txt; hook Stop '{"stop_hook_active":true}' | cut -c1-60
done
touch red
