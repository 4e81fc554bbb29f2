# The PATH where the hook is called has no git.
touch red
mkdir ../only && for p in stopgate sh test cat dirname env; do ln -s "$(command -v $p)" ../only/$p; done
p=$(jq -c '.hook_event_name="Stop" | .stop_hook_active=false' "$PROJECT/../../base.json")
echo "$p" | PATH=$(realpath ../only) CLAUDE_PROJECT_DIR=$PROJECT ../only/stopgate hook Stop > ../a1
cat ../a1; grep -q '"decision":"block"' ../a1
