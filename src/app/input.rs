//! Reads standard input and files, with a size limit and interruptible by Ctrl-C.

use std::path::PathBuf;

use crate::outcome::{Error, Result};
use crate::platform::input::{Source, read_text};

/// The longest input that is read. The service limits requests to 1 MB (spec, Errors: 413).
const LONGEST_INPUT: u64 = 16 * 1024 * 1024;

/// The code without blanks, and without hyphens between digits. Refuses (2) an empty one, and the
/// word that stands for it in a printed command: each wrong code costs a try.
pub(crate) fn one_time_code(code: &str, flag: &str) -> Result<String> {
    let code: String = code.split_whitespace().collect();
    let groups: Vec<&str> = code.split('-').collect();
    let is_number = |group: &&str| !group.is_empty() && group.bytes().all(|it| it.is_ascii_digit());
    let code = if groups.iter().all(is_number) { groups.concat() } else { code };
    match &*code {
        "" => Err(Error::usage(format!("{flag} is empty; nothing was sent"))),
        "CODE" => {
            Err(Error::usage(format!("{flag} CODE: CODE is a placeholder; nothing was sent"))
                .hint("write the code in place of CODE"))
        }
        _ => Ok(code),
    }
}

pub(crate) async fn read(source: Source) -> Result<String> {
    let name = source.name();
    read_text(source, LONGEST_INPUT).await.map_err(|error| Error::unreadable(&name, error))
}

pub(crate) async fn read_stdin() -> Result<String> {
    read(Source::Stdin).await
}

/// The text of this file, or of standard input for `-`.
pub(crate) async fn read_file(path: &str) -> Result<String> {
    read(PathBuf::from(path).into()).await
}
