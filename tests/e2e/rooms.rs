//! The rooms of docs/architecture.md: a room uses those below it, and never one above.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every room, the lowest first: each may use those before it alone. `sandbox` and `api` stand apart.
const ORDER: &[&str] = &[
    // What tests draw from.
    "arbitrary",
    "exit",
    "interrupt",
    "patience",
    "process",
    "regular_file",
    "catalog",
    "model",
    "prompt",
    "error",
    "ownership",
    "private_file",
    "platform",
    "secrets",
    "sandbox",
    "api",
    "config",
    "output",
    "situation",
    "journal",
    "webhook",
    "flags",
    "setup",
    "context",
    "view",
    "walk",
    "commands",
    "completion",
    "cli",
    "lib",
    "main",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The rooms that a file's code names after `crate::`; its tests may look anywhere.
fn used(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let mut rooms = BTreeSet::new();
    for part in code.split("crate::").skip(1) {
        let room: String = part
            .chars()
            .take_while(|c| c.is_ascii_lowercase() || *c == '_')
            .collect();
        rooms.insert(room);
    }
    rooms.retain(|room| ORDER.contains(&room.as_str()));
    rooms
}

#[test]
fn dependencies_between_rooms_point_down_and_never_in_a_circle() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 100, "the sources were not found");
    let mut wrong = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&src).unwrap();
        let room = inside.iter().next().unwrap().to_string_lossy();
        let room = room.trim_end_matches(".rs");
        let place = ORDER.iter().position(|it| *it == room);
        let place = place.unwrap_or_else(|| panic!("{room} has no place in the order of rooms"));
        for other in used(&std::fs::read_to_string(&file).unwrap()) {
            if other != room && !ORDER[..place].contains(&other.as_str()) {
                wrong.push(format!("{} uses {other}", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_wire_is_written_twice_so_the_sandbox_and_the_client_share_no_code() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (room, forbidden) in [("sandbox", "api"), ("sandbox", "model"), ("api", "sandbox")] {
        let mut files = Vec::new();
        sources(&src.join(room), &mut files);
        for file in files {
            let used = used(&std::fs::read_to_string(&file).unwrap());
            assert!(
                !used.contains(forbidden),
                "{} uses {forbidden}",
                file.display()
            );
        }
    }
}
