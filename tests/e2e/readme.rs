//! What the documents promise is what the program does.

use std::path::{Path, PathBuf};

use crate::harness::document;

/// README.md and every page of the documentation, but for the one whose commands need a PostgreSQL (see `teams`).
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut documents = vec![root.join("README.md")];
    for entry in std::fs::read_dir(root.join("docs")).unwrap() {
        documents.push(entry.unwrap().path());
    }
    documents.retain(|path| path.extension().is_some_and(|kind| kind == "md") && path.exists());
    documents.retain(|path| !path.ends_with("docs/teams.md"));
    documents.sort();
    documents
}

#[test]
fn every_command_of_the_documents_shows_what_they_say_it_shows() {
    let differences: Vec<String> = documents()
        .iter()
        .filter_map(|path| document::run(path).err())
        .collect();
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}
