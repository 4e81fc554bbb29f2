# The hook is called with umask 777.
touch red
(umask 777; hook Stop '{"stop_hook_active":false}') | tee /dev/stderr | grep -q '"decision":"block"'
