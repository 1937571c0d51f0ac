# Completion of bookctl's commands, flags and values for elvish.
# bookctl itself answers, so that this file need not change with it.

use str

set edit:completion:arg-completer[bookctl] = {|@words|
    env BOOKCTL_COMPLETE=elvish bookctl -- $@words 2>/dev/null | each {|line|
        var value @about = (str:split "\t" $line)
        var suffix = ' '
        # What goes on after a name and its `=`, or after a folder, is typed next to it.
        if (or (str:has-suffix $value '=') (str:has-suffix $value '/')) {
            set suffix = ''
        }
        edit:complex-candidate $value &code-suffix=$suffix &display=(str:join '  ' [$value $@about])
    }
}
