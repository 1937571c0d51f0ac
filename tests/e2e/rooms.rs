//! The rooms of docs/dev/architecture.md: a room uses those below it, and no two files use each
//! other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The rooms, the lowest first. The longest name that fits counts.
const ORDER: &str = "arbitrary json outcome platform secrets service::time service::documents \
    service::mapping config sandbox service journal webhook terminal app booking desk account setup \
    webhook::commands playground cli lib main";

type Modules = BTreeMap<String, String>;

/// The text of each module of the program, without its tests.
pub(crate) fn modules() -> Modules {
    let mut modules = Modules::new();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    read(&src, "", &mut modules);
    modules
}

fn read(folder: &Path, above: &str, modules: &mut Modules) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let module = format!("{above}::{name}");
        let module = module.trim_end_matches("::mod");
        if path.is_dir() && !name.contains("_model") && name != "tests" {
            read(&path, module, modules);
        } else if path.extension() == Some("rs".as_ref()) && name != "tests" {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            modules.insert(module.into(), code.to_owned());
        }
    }
}

/// Reads a path, or a tree of them as imports have it, and returns the rest of the text.
fn tree<'a>(text: &'a str, before: &str, found: &mut Vec<String>) -> &'a str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    let (name, mut rest) = text.split_at(end.unwrap_or(text.len()));
    let path = before.to_owned() + name;
    if !rest.starts_with('{') {
        found.push(path);
        return rest;
    }
    while !rest.starts_with('}') {
        rest = tree(rest[1..].trim_start(), &path, found);
        rest = rest.trim_start_matches(|c| c != ',' && c != '}');
    }
    &rest[1..]
}

/// The modules that a module's code names. The folder around a file, which declares it, does not
/// count.
fn used(module: &str, code: &str, modules: &Modules) -> BTreeSet<String> {
    let after_mod = code.lines().filter_map(|line| line.split("mod ").nth(1));
    let children = after_mod.filter_map(|name| name.strip_suffix(';'));
    let mut found = Vec::new();
    for start in children.chain(["crate", "super"]) {
        for (at, _) in code.match_indices(&format!("{start}::")) {
            if !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                tree(&code[at..], "", &mut found);
            }
        }
    }
    let known = |path: &String| {
        let (mut base, mut rest) = (module, path.as_str());
        while let Some(below) = rest.strip_prefix("super::") {
            (base, rest) = (base.rsplit_once("::").unwrap().0, below);
        }
        let path = format!("{base}::{rest}");
        let mut path = path.rsplit_once("::crate").map_or(path.as_str(), |it| it.1);
        while !modules.contains_key(path) {
            path = path.rsplit_once("::")?.0;
        }
        Some(path.to_owned()).filter(|it| !format!("{module}::").starts_with(&format!("{it}::")))
    };
    found.iter().filter_map(known).collect()
}

#[test]
fn a_room_uses_those_below_it_and_no_two_files_use_each_other() {
    let mut modules = modules();
    for code in modules.values_mut() {
        let lines = code.lines().map(|line| line.split("//").next().unwrap());
        *code = lines.collect::<Vec<_>>().join("\n");
    }
    let place = |module: &str| {
        let fits = |room: &&str| format!("{module}::").starts_with(&format!("::{room}::"));
        let room = ORDER.split(' ').filter(fits).max_by_key(|room| room.len());
        ORDER.split(' ').position(|it| Some(it) == room)
    };
    let mut uses = BTreeMap::new();
    for (module, code) in &modules {
        uses.insert(module.clone(), used(module, code, &modules));
        for other in &uses[module] {
            // Both are written from the specification, so that one mistake is not on both sides.
            let ends = [module, other].map(|it| it.split("::").nth(1).unwrap());
            let apart = ends != ["sandbox", "service"] && ends != ["service", "sandbox"];
            let below = place(other) <= place(module);
            assert!(apart && below, "{module} uses {other}");
        }
    }
    while let Some(last) = uses.keys().find(|it| uses[*it].is_empty()).cloned() {
        uses.remove(&last);
        uses.values_mut().for_each(|used| _ = used.remove(&last));
    }
    assert!(uses.is_empty(), "files that use each other: {uses:#?}");
}

/// A file that moves takes its place in `tests/mutants/run` along.
#[test]
fn the_files_that_mutants_change_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = std::fs::read_to_string(root.join("tests/mutants/run")).unwrap();
    let words = script.split(|c: char| c.is_whitespace() || c == '"');
    let files: Vec<&str> =
        words.filter(|it| it.starts_with("src/") && it.ends_with(".rs")).collect();
    assert!(files.len() > 15, "{files:?}");
    for file in files {
        assert!(root.join(file).is_file(), "{file} is gone");
    }
}
