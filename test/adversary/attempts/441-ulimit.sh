# The hook is called with few open files and no large ones.
touch red
(ulimit -n 24; hook Stop '{"stop_hook_active":false}') > ../a1
cat ../a1 && grep -q '"decision":"block"' ../a1
