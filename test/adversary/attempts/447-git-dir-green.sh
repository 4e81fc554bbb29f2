# Claude Code was started below a git hook, with GIT_INDEX_FILE and GIT_DIR of the same repository, and the work is green.
# expect: nothing
echo more >> main.txt
(cd "$PROJECT" && export GIT_DIR=.git GIT_INDEX_FILE=.git/index GIT_PREFIX= GIT_EDITOR=: ; hook Stop '{"stop_hook_active":false}') | tee /dev/stderr | { ! grep -q '"decision":"block"'; }
