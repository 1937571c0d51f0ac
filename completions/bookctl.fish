# Completion of bookctl's commands, flags and values for fish.
# bookctl itself answers, so that this file need not change with it.

function __bookctl_complete
    set --local words (commandline --current-process --tokenize --cut-at-cursor)
    set --local current (commandline --current-token --cut-at-cursor)
    BOOKCTL_COMPLETE=fish bookctl -- $words "$current" 2>/dev/null
end

complete --command bookctl --keep-order --no-files --arguments '(__bookctl_complete)'
