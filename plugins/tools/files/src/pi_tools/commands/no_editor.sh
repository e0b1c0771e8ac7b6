# Stands for an editor where there is no terminal: says so and fails, so that the command that wanted it ends at once.
# An editor that the command itself chose (git -c core.editor=..., EDITOR=... in front of it) is used, and with --user
# also the user's own if it has a window.
# Usage: no_editor.sh [--sequence] [--user EDITOR] FILE ...; git passes --sequence, for the list of a rebase.
user= sequence= own= chosen=
if [ "$1" = --sequence ]; then
    sequence=1
    shift
fi
if [ "$1" = --user ]; then
    user=1 own=$2
    shift 2
fi

# Whether a setting is no editor in a terminal, and none of pi's own.
usable() {
    case $1 in "" | *no_editor.sh*) return 1 ;; esac
    program=${1%% *}
    case ${program##*/} in
    vi | vim | view | nvi | nvim | vim.* | nano | pico | rnano | ed | red | ex | joe | jed | jove | mg | micro | ne | hx | \
        helix | kak | mcedit | dte | tilde | zile | editor | sensible-editor) return 1 ;;
    emacs | emacsclient) case " $1 " in *" -nw "* | *" -t "* | *" --tty "*) return 1 ;; esac ;;
    esac
    return 0
}

# The value of a setting of git, unless it is the user's for all repositories.
setting() {
    found=$(git config --show-scope --get "$1" 2>/dev/null) || return
    scope=${found%%	*}
    case $scope in
    command | local | worktree) echo "${found#*	}" ;;
    *) if [ -n "$user" ]; then echo "${found#*	}"; fi ;;
    esac
}

if [ -n "$sequence" ]; then chosen=$(setting sequence.editor); fi
if ! usable "$chosen"; then chosen=$GIT_EDITOR; fi
if ! usable "$chosen"; then chosen=$(setting core.editor); fi
if ! usable "$chosen"; then chosen=$VISUAL; fi
if ! usable "$chosen"; then chosen=$EDITOR; fi
if ! usable "$chosen"; then chosen=$own; fi
if [ "$chosen" = : ]; then exit 0; fi
if usable "$chosen"; then
    eval "exec $chosen \"\$@\""
fi
echo "There is no terminal here, so no editor can be opened. Give the text as an option (git commit -m ..., git tag -m ...," \
    "git merge --no-edit, GIT_SEQUENCE_EDITOR=... git rebase -i), or change the file itself." >&2
exit 1
