# Variables of another git command are set where the hook is called, as below a git hook.
git init -q ../other && git -C ../other commit -q --allow-empty -m x
touch red
(export GIT_DIR="$(realpath ../other)/.git" GIT_WORK_TREE="$(realpath ../other)" GIT_INDEX_FILE=/nowhere/index; hook Stop '{"stop_hook_active":false}') | tee /dev/stderr | grep -q '"decision":"block"'
(export GIT_PREFIX=sub/ GIT_OBJECT_DIRECTORY=/nowhere GIT_CEILING_DIRECTORIES="$PROJECT" GIT_LITERAL_PATHSPECS=1 GIT_TRACE=1 GIT_NAMESPACE=x; hook Stop '{"stop_hook_active":false}') | tee /dev/stderr | grep -q '"decision":"block"'
