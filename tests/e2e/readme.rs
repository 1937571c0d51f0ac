//! What the documents promise is what the program does, and its screens are those that were
//! reviewed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::harness::document;

/// The pages of a folder, but for the one whose commands need a PostgreSQL (see `teams`).
fn pages(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let pages = std::fs::read_dir(folder).unwrap();
    let pages = pages.map(|entry| entry.unwrap().path());
    let is_page =
        |path: &PathBuf| path.extension().is_some_and(|kind| kind == "md") && path.exists();
    pages.filter(|path| is_page(path) && !path.ends_with("docs/teams.md")).collect()
}

/// Runs the commands of these pages, four pages at a time.
fn show_what_they_say(pages: &[PathBuf]) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mine = || pages.get(next.fetch_add(1, Ordering::SeqCst));
        let differences = std::iter::from_fn(mine).filter_map(|page| document::run(page).err());
        differences.collect::<Vec<String>>()
    };
    let differences = std::thread::scope(|scope| {
        let workers = [(); 4].map(|()| scope.spawn(work));
        workers.map(|it| it.join().unwrap()).concat()
    });
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}

#[test]
fn every_command_of_the_documents_shows_what_they_say_it_shows() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    show_what_they_say(&[pages("docs"), vec![readme]].concat());
}

/// Whole screens: one page a command in `tests/e2e/screens`.
#[test]
fn every_command_shows_the_screens_that_were_reviewed() {
    show_what_they_say(&pages("tests/e2e/screens"));
}
