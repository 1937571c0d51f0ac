//! The rooms of docs/dev/architecture.md: a room uses those below it, never one above, and no two files use each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

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

/// A source file as the rest of the program names it.
struct File {
    path: PathBuf,
    /// `journal::store` of `src/journal/store.rs`, `journal` of `src/journal/mod.rs`.
    module: Vec<String>,
    /// The paths that its code names, from the root of the crate; what its tests name is left out.
    names: BTreeSet<Vec<String>>,
    /// What it offers under another file's name: the name, and where it stands.
    offers: BTreeMap<String, Vec<String>>,
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

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

/// Every file but those that are tests as a whole.
fn files() -> Vec<File> {
    let mut paths = Vec::new();
    sources(&src(), &mut paths);
    let is_test = |path: &PathBuf| {
        let path = path.to_string_lossy();
        path.contains("/tests") || path.contains("_model") || path.ends_with("arbitrary.rs")
    };
    paths.retain(|path| !is_test(path));
    assert!(paths.len() > 100, "the sources were not found");
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> File {
    let inside = path.strip_prefix(src()).unwrap().with_extension("");
    let mut module: Vec<String> = inside
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let code: String = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let (mut names, mut offers) = (BTreeSet::new(), BTreeMap::new());
    for statement in code.split(';') {
        let is_offer = statement.contains("pub(crate) use ")
            || statement.contains("pub(super) use ")
            || statement.contains("pub use ");
        for path in paths_in(statement, &module) {
            if is_offer {
                offers.insert(path.last().unwrap().clone(), path);
            } else {
                names.insert(path);
            }
        }
    }
    File {
        path,
        module,
        names,
        offers,
    }
}

/// The paths of a statement that begin with `crate`, `super`, `self` or, in an import, with a module beside it.
fn paths_in(statement: &str, module: &[String]) -> Vec<Vec<String>> {
    let import = statement
        .rsplit_once("use ")
        .filter(|(before, _)| before.is_empty() || before.ends_with([' ', '\n']))
        .map(|(_, import)| import.trim());
    if let Some(import) = import {
        return expanded(import, &[])
            .into_iter()
            .filter_map(|path| from_root(path, module))
            .collect();
    }
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in statement.match_indices(start) {
            let rest = &statement[at..];
            let end = rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
                .unwrap_or(rest.len());
            let path = rest[..end].trim_end_matches(':').split("::");
            found.extend(from_root(path.map(str::to_owned).collect(), module));
        }
    }
    found
}

/// `a::{b, c::d}` as `a::b` and `a::c::d`.
fn expanded(import: &str, before: &[String]) -> Vec<Vec<String>> {
    let import = import.trim();
    let Some(open) = import.find('{') else {
        let import = import.split(" as ").next().unwrap_or_default();
        let parts = import.split("::").map(|part| part.trim().to_owned());
        return vec![before.iter().cloned().chain(parts).collect()];
    };
    let head = import[..open].split("::").map(str::trim);
    let head = head.filter(|part| !part.is_empty()).map(str::to_owned);
    let before: Vec<String> = before.iter().cloned().chain(head).collect();
    let inner = import[open + 1..].trim_end_matches('}');
    let (mut depth, mut part, mut parts) = (0, String::new(), Vec::new());
    for c in inner.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(c);
        }
    }
    parts.push(part);
    parts
        .iter()
        .filter(|part| !part.trim().is_empty())
        .flat_map(|part| expanded(part, &before))
        .collect()
}

/// A path as it is from the root of the crate; `None` for what is not ours.
fn from_root(path: Vec<String>, module: &[String]) -> Option<Vec<String>> {
    let mut base = module.to_vec();
    let mut rest = path.into_iter().peekable();
    match rest.peek().map(String::as_str)? {
        "crate" => {
            rest.next();
            base.clear();
        }
        "self" => {
            rest.next();
        }
        "super" => {
            while rest.peek().is_some_and(|part| part == "super") {
                rest.next();
                base.pop();
            }
        }
        // A module beside it, which only a folder's own file can name like this.
        _ => {}
    }
    base.extend(rest.filter(|part| part != "self"));
    Some(base)
}

/// The file in which a path's item stands: through what other files offer of it.
fn home<'a>(path: &[String], files: &'a [File]) -> Option<&'a File> {
    let mut path = path.to_vec();
    for _ in 0..8 {
        let file = files
            .iter()
            .filter(|file| path.starts_with(&file.module) && !file.module.is_empty())
            .max_by_key(|file| file.module.len())?;
        let name = path.get(file.module.len());
        match name.and_then(|name| file.offers.get(name)) {
            Some(offered) if offered.starts_with(&file.module) || offered[0] != path[0] => {
                path = offered.clone();
            }
            _ => return Some(file),
        }
    }
    None
}

#[test]
fn dependencies_between_rooms_point_down_and_never_in_a_circle() {
    let mut wrong = Vec::new();
    for file in files() {
        let room = file.module.first().map_or("lib", String::as_str);
        let place = ORDER.iter().position(|it| *it == room);
        let place = place.unwrap_or_else(|| panic!("{room} has no place in the order of rooms"));
        for path in file.names.iter().chain(file.offers.values()) {
            let other = path.first().map_or("", String::as_str);
            if other != room && ORDER[place..].contains(&other) {
                wrong.push(format!("{} uses {}", file.path.display(), path.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_two_files_use_each_other_directly_or_by_way_of_others() {
    let files = files();
    let place = |file: &File| files.iter().position(|it| it.module == file.module);
    let uses: Vec<BTreeSet<usize>> = files
        .iter()
        .map(|file| {
            let used = file.names.iter().filter_map(|path| home(path, &files));
            let used = used.filter_map(place);
            used.filter(|other| files[*other].module != file.module)
                .collect()
        })
        .collect();
    let reaches = |from: usize, to: usize| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(file) = next.pop() {
            for other in &uses[file] {
                if *other == to {
                    return true;
                }
                if seen.insert(*other) {
                    next.push(*other);
                }
            }
        }
        false
    };
    let circles: Vec<String> = (0..files.len())
        .filter(|file| reaches(*file, *file))
        .map(|file| {
            let others = uses[file].iter().filter(|other| reaches(**other, file));
            let others: Vec<String> = others.map(|it| files[*it].module.join("::")).collect();
            format!(
                "{} uses {}",
                files[file].module.join("::"),
                others.join(", ")
            )
        })
        .collect();
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn the_wire_is_written_twice_so_the_sandbox_and_the_client_share_no_code() {
    for file in files() {
        let room = file.module.first().map_or("", String::as_str);
        let forbidden: &[&str] = match room {
            "sandbox" => &["client", "adapter", "model", "json"],
            "client" | "adapter" => &["sandbox"],
            _ => &[],
        };
        for path in &file.names {
            assert!(
                !forbidden.contains(&path[0].as_str()),
                "{} uses {}",
                file.path.display(),
                path.join("::")
            );
        }
    }
}
