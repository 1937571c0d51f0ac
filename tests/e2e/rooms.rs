//! The rooms of docs/dev/architecture.md: a room uses those below it, never one above.

use std::collections::BTreeSet;
use std::path::Path;

/// Every room, the lowest first: each may use those before it alone. `sandbox` and `client` stand apart.
const ORDER: &[&str] = &[
    // What tests draw from.
    "arbitrary",
    "json",
    "outcome",
    "platform",
    "model",
    "adapter",
    "secrets",
    "sandbox",
    "client",
    "config",
    "recent",
    "journal",
    "webhook",
    "terminal",
    "app",
    "flows",
    "commands",
    "cli",
    "lib",
    "main",
];

/// A file of a room, and the names at the root of the crate that its code uses. What its tests use is left out.
struct File {
    path: String,
    room: String,
    uses: BTreeSet<String>,
}

/// Every file but those that are tests as a whole.
fn files() -> Vec<File> {
    let mut files = Vec::new();
    add_files(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &[],
        &mut files,
    );
    assert!(files.len() > 100, "the sources were not found");
    files
}

fn add_files(folder: &Path, above: &[String], files: &mut Vec<File>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_test = name.starts_with("tests") || name.contains("_model") || name == "arbitrary";
        let module: Vec<String> = above.iter().cloned().chain([name]).collect();
        if is_test {
            continue;
        }
        if path.is_dir() {
            add_files(&path, &module, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let depth = module.len() - usize::from(module.last().unwrap() == "mod");
            files.push(File {
                uses: uses(&std::fs::read_to_string(&path).unwrap(), depth),
                path: path.display().to_string(),
                room: module[0].clone(),
            });
        }
    }
}

/// The names that follow `crate::`, or as many `super::` as lead from a module of this depth to the root.
fn uses(text: &str, depth: usize) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let code = code.lines().map(|line| line.split("//").next().unwrap());
    let code: String = code.collect::<Vec<_>>().join("\n");
    let root = "super::".repeat(depth);
    let paths = code.split("crate::").skip(1);
    let paths = paths.chain(code.split(root.as_str()).skip(1));
    let name = |path: &str| {
        let name = path
            .trim_start()
            .split(|c: char| !c.is_alphanumeric() && c != '_');
        name.into_iter().next().unwrap().to_owned()
    };
    let mut found = BTreeSet::new();
    for path in paths {
        let Some(group) = path.strip_prefix('{') else {
            found.insert(name(path));
            continue;
        };
        // `{a::{b, c}, d}`: what begins the group, and what follows a comma that is in no group within it.
        let mut open = 1;
        found.insert(name(group));
        for (place, c) in group.char_indices() {
            match c {
                '{' => open += 1,
                '}' => open -= 1,
                ',' if open == 1 => {
                    found.insert(name(&group[place + 1..]));
                }
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
    }
    found
}

#[test]
fn dependencies_between_rooms_point_down_and_never_in_a_circle() {
    let mut wrong = Vec::new();
    for file in files() {
        let place = ORDER.iter().position(|it| *it == file.room);
        let place = place.unwrap_or_else(|| panic!("{} has no place in the order", file.room));
        let above = |other: &&String| **other != file.room && ORDER[place..].contains(&&***other);
        wrong.extend(
            file.uses
                .iter()
                .filter(above)
                .map(|other| format!("{} uses {other}", file.path)),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_wire_is_written_twice_so_the_sandbox_and_the_client_share_no_code() {
    for file in files() {
        let forbidden: &[&str] = match file.room.as_str() {
            "sandbox" => &["client", "adapter", "model", "json"],
            "client" | "adapter" => &["sandbox"],
            _ => &[],
        };
        for other in forbidden {
            assert!(!file.uses.contains(*other), "{} uses {other}", file.path);
        }
    }
}
