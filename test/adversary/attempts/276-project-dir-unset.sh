# CLAUDE_PROJECT_DIR is not set, is a folder that is gone, or another project's.
touch red
p=$(jq -c '.hook_event_name="Stop" | .stop_hook_active=false' "$PROJECT/../../base.json")
for d in "" /nowhere "$HOME" .; do echo "$p" | (export CLAUDE_PROJECT_DIR="$d"; stopgate hook Stop > ../a1); echo "$d: $(cut -c1-300 ../a1)"; grep -q '"decision":"block"' ../a1; env -u CLAUDECODE stopgate clean >/dev/null; done
echo "$p" | (unset CLAUDE_PROJECT_DIR; cd /; stopgate hook Stop) > ../a1; cut -c1-300 ../a1;  grep -q '"decision":"block"' ../a1; env -u CLAUDECODE stopgate clean
