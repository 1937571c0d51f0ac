//! The process around the library: arguments and environment in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    bookctl::run(std::env::args_os().collect(), |name| std::env::var_os(name)).into()
}
