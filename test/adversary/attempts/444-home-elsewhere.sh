# HOME is a place that is not there, or not absolute, where the hook is called.
touch red
(export HOME="$PROJECT/../nohome"; hook Stop '{"stop_hook_active":false}') > ../a1; cat ../a1; grep -q '"decision":"block"' ../a1
(export HOME=relative; hook Stop '{"stop_hook_active":false}') > ../a1; cat ../a1;  grep -q '"decision":"block"' ../a1
