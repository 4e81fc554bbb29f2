# Settings of git in the environment of the hook hide untracked files, and ignore the red one.
touch red
echo red > ../ignore; printf '[core]\n\texcludesFile = %s\n[status]\n\tshowUntrackedFiles = no\n' "$(realpath ../ignore)" > ../config
(export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=status.showUntrackedFiles GIT_CONFIG_VALUE_0=no GIT_CONFIG_KEY_1=core.excludesFile GIT_CONFIG_VALUE_1="$(realpath ../ignore)"; hook Stop '{"stop_hook_active":false}') > ../a1; cat ../a1;  grep -q '"decision":"block"' ../a1
(export GIT_CONFIG_GLOBAL="$(realpath ../config)" GIT_CONFIG_SYSTEM="$(realpath ../config)"; hook Stop '{"stop_hook_active":false}') > ../a1; cat ../a1;  grep -q '"decision":"block"' ../a1
