//! Editing a text in the user's own editor.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::platform::regular_file;
use crate::platform::system::files::{create_folder, create_new};
use crate::platform::system::process;

/// A request may be 1 MB (spec, Errors: 413).
const LONGEST_TEXT: u64 = 16 * 1024 * 1024;

/// Opens `initial` in the editor `command`. Returns `None` if it comes back empty or unchanged. The
/// file has a private folder (0700), because editors leave backups next to what they edit.
pub(super) fn edit(command: &str, initial: &str) -> io::Result<Option<String>> {
    let folder = std::env::temp_dir().join(format!("bookctl-{}", uuid::Uuid::now_v7()));
    create_folder(&folder)?;
    let edited = edit_in(&folder.join("edit.json"), command, initial);
    // A folder that cannot be removed is left behind.
    let _ = fs::remove_dir_all(&folder);
    edited
}

fn edit_in(path: &Path, command: &str, initial: &str) -> io::Result<Option<String>> {
    create_new(path, None)?.write_all(initial.as_bytes())?;
    let status = process::command(command, Some(path.as_os_str())).status()?;
    if !status.success() {
        return Err(io::Error::other(format!(
            "the editor `{command}` failed ({status}); set EDITOR to use another one"
        )));
    }
    let edited = String::from_utf8(regular_file::read(path, LONGEST_TEXT)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the text is not UTF-8"))?;
    let is_changed = edited.trim() != initial.trim() && !edited.trim().is_empty();
    Ok(is_changed.then_some(edited))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_the_editor_wrote_comes_back_and_nothing_stays_behind() {
        let notes = tempfile::tempdir().unwrap();
        let seen = notes.path().join("seen");
        let command = format!(
            "f() {{ printf '%s' \"$1\" > {seen}; ls -ld \"$1\" >> {seen}; echo '{{\"a\": 1}}' > \"$1\"; touch \"$1~\"; }}; f",
            seen = seen.display()
        );
        assert_eq!(edit(&command, "{}").unwrap(), Some("{\"a\": 1}\n".to_owned()));
        let seen = fs::read_to_string(seen).unwrap();
        let (path, mode) = seen.split_once(".json").unwrap();
        assert!(mode.contains("rw-------"), "{mode}");
        assert!(!Path::new(path).parent().unwrap().exists(), "the folder is gone: {path}");
    }

    #[test]
    fn an_unchanged_or_emptied_text_is_no_answer() {
        assert_eq!(edit("true", "{}").unwrap(), None);
        assert_eq!(edit("f() { : > \"$1\"; }; f", "{}").unwrap(), None);
    }

    #[test]
    fn an_editor_that_fails_gives_no_answer_whatever_it_wrote() {
        let error = edit("f() { echo x > \"$1\"; exit 1; }; f", "{}").unwrap_err();
        assert!(error.to_string().contains("failed"), "{error}");
    }
}
