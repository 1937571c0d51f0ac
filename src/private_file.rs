//! Small files for their owner alone: written whole or not at all, by one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long another process may be writing before we give up.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The file's text; `None` where there is no file.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces the file's text with what `edit` makes of it, while no other process does; `None` leaves it as it is.
///
/// The file is 0600, its folder is made 0700 where it is not there. A reader sees the old text or the new one.
pub(crate) fn update<E: From<io::Error>>(
    path: &Path,
    edit: impl FnOnce(String) -> Result<Option<String>, E>,
) -> Result<(), E> {
    // A link (to a folder of dotfiles, say) stays one: what it names is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let _lock = lock(path)?;
    if let Some(text) = edit(read(path)?.unwrap_or_default())? {
        replace(path, &text)?;
    }
    Ok(())
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn create(path: &Path, truncate: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(truncate);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Held until dropped. The lock is on a file of its own, which stays: the file itself is replaced at each write.
fn lock(path: &Path) -> io::Result<File> {
    let file = create(&beside(path, ".lock"), false)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begun.elapsed() > LOCK_TIMEOUT => {
                let why = format!(
                    "another process has been writing it for {} s",
                    LOCK_TIMEOUT.as_secs()
                );
                return Err(io::Error::new(ErrorKind::TimedOut, why));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    // Whoever writes holds the lock, so one name is enough; what a crash left there is overwritten.
    let new = beside(path, ".new");
    let _ = fs::remove_file(&new);
    let mut file = create(&new, true)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_that_others_could_read_is_its_owners_alone_after_a_write_and_a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        update(&link, |text| Ok::<_, io::Error>(Some(text + ", new"))).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "old, new");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn writers_at_the_same_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("file");
        let append = || update(&path, |text| Ok::<_, io::Error>(Some(text + "x")));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10).for_each(|_| append().unwrap()));
            }
        });
        assert_eq!(read(&path).unwrap().unwrap().len(), 40);
    }
}
