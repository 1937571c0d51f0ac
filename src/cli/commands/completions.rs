use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;

use crate::outcome::{Exit, Result};
use crate::terminal::output::{DocumentView, Output, Page};

/// Generate a shell completion script
///
/// Completes commands, flags, and the venues, slots and bookings that bookctl has seen. It needs no
/// network.
#[derive(clap::Args, Debug)]
#[command(after_help = "To install, run one of these once:\n  \
    bash        echo 'source <(bookctl completions bash)' >> ~/.bashrc\n  \
    zsh         echo 'source <(bookctl completions zsh)' >> ~/.zshrc    # after compinit\n  \
    fish        bookctl completions fish > ~/.config/fish/completions/bookctl.fish\n  \
    elvish      echo 'eval (bookctl completions elvish | slurp)' >> ~/.config/elvish/rc.elv\n  \
    powershell  Add-Content $PROFILE 'bookctl completions powershell | Out-String | Invoke-Expression'\n\n\
    Examples:\n  \
    source <(bookctl completions bash)\n  \
    bookctl completions zsh > \"${fpath[1]}/_bookctl\"")]
pub(crate) struct Args {
    /// Shell
    #[arg(hide_possible_values = true, value_name = "bash|zsh|fish|powershell|elvish")]
    shell: Shell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
    Elvish,
}

impl Shell {
    fn script(self) -> &'static str {
        match self {
            Shell::Bash => include_str!("../../../completions/bookctl.bash"),
            Shell::Zsh => include_str!("../../../completions/_bookctl"),
            Shell::Fish => include_str!("../../../completions/bookctl.fish"),
            Shell::Powershell => include_str!("../../../completions/_bookctl.ps1"),
            Shell::Elvish => include_str!("../../../completions/bookctl.elv"),
        }
    }
}

pub(crate) fn run(out: &Output, args: &Args) -> Result<Exit> {
    let (shell, script) = (args.shell, args.shell.script());
    if out.is_human() {
        // The script does not depend on the terminal's width.
        return out.print(script).map(|_| Exit::Done);
    }
    let document = json!({ "shell": shell, "script": script });
    out.emit(&DocumentView(document.into(), |_| Page::default()))
}
