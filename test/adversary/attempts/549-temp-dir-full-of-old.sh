# TMPDIR is a file, and HOME is not writable.
touch red; touch ../t
(export TMPDIR="$(realpath ../t)"; hook Stop '{"stop_hook_active":false}') > ../a1; cat ../a1; grep -q '"decision":"block"' ../a1
