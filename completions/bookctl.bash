# Completion of bookctl's commands, flags and values for bash.
# bookctl itself answers, so that this file need not change with it.

_bookctl() {
    local candidate
    COMPREPLY=()
    while IFS= read -r candidate; do
        COMPREPLY+=("$candidate")
    done < <(BOOKCTL_COMPLETE=bash bookctl -- "$COMP_TYPE" "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
    # What goes on after a name and its `=`, or after a folder, is typed next to it.
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

complete -o nosort -F _bookctl bookctl 2>/dev/null || complete -F _bookctl bookctl
