# complete.zsh DIRECTORY LINE WANT: types a line and Tab into an interactive zsh that finds functions in the directory
# too, and prints what the terminal shows once it shows WANT.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=(${(q)1} \$fpath); autoload -Uz compinit && compinit -u -D && bindkey '^I' complete-word && print re''ady"
zpty -r shell shown '*ready*'
zpty -w -n shell "$2"$'\t'
zpty -r shell shown "*$3*"
print -r -- "$shown"
