# Prints what bash offers for the words in the arguments: bash-completion loads our script as in a shell of a user.
# Outside of readline compopt has nothing to act on.
compopt() { :; }
source /usr/share/bash-completion/bash_completion
_completion_loader "$1"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
"$(complete -p "$1" | sed 's/.* -F \([^ ]*\) .*/\1/')"
printf '%s\n' "${COMPREPLY[@]}"
