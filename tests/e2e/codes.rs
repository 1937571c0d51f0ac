//! The codes that errors carry: what is in the table is emitted, by the program or by the sandbox as the service does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::explained::codes;
use crate::harness::{Home, text};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

/// What is compiled into the program of the files under `src/FOLDER`: the text without its tests.
fn code_of(folder: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    sources(&root.join(folder), &mut files);
    let is_test = |path: &Path| {
        path.iter()
            .any(|part| part == "tests" || part == "tests.rs")
    };
    files.retain(|path| !is_test(path.strip_prefix(&root).unwrap()));
    let code = files.into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        // The standard library's errors carry no code.
        (path, code.replace("io::Error::new(", "io::error("))
    });
    code.collect()
}

/// The string literals that follow a piece of code, with nothing but blanks and line ends in between.
fn literals_after<'a>(code: &'a str, piece: &str) -> Vec<&'a str> {
    let places = code.split(piece).skip(1);
    let literal = |rest: &'a str| rest.trim_start().strip_prefix('"')?.split('"').next();
    places.filter_map(literal).collect()
}

/// Whether a literal is a code and no sentence.
fn is_code(literal: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    !literal.is_empty() && literal.chars().all(fits)
}

/// `unknown_event` as the source names it: `Code::UnknownEvent`.
fn in_the_source(code: &str) -> String {
    let words = code.split('_').map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    });
    format!("Code::{}", words.collect::<String>())
}

/// The arguments of each call of `name`, up to the parenthesis that closes it.
fn calls<'a>(code: &'a str, name: &str) -> Vec<&'a str> {
    let arguments = |rest: &'a str| {
        let mut depth = 1;
        let end = rest.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        &rest[..end.unwrap_or(rest.len())]
    };
    code.split(name).skip(1).map(arguments).collect()
}

/// The codes that the sandbox answers with, as the service does.
fn of_the_service() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let strings = |code: &str| -> Vec<String> {
        let strings = code.split('"').skip(1).step_by(2);
        strings.map(str::to_owned).collect()
    };
    for (path, code) in code_of("sandbox/rules") {
        if path.ends_with("error_code.rs") {
            found.extend(strings(&code));
        }
        // The second argument is the code.
        let coded = calls(&code, "coded(").into_iter();
        found.extend(coded.filter_map(|call| strings(call).pop()));
        // Older refusals have the code in `error`, where the others have a sentence.
        let older = calls(&code, " error(").into_iter();
        found.extend(older.filter_map(|call| strings(call).pop()));
        let older = literals_after(&code, "\"error\": ").into_iter();
        found.extend(older.map(str::to_owned));
    }
    // The last is a word of serde.
    found.retain(|it| is_code(it) && it != "snake_case");
    found
}

/// The codes of the catalog whose kind is one of these.
fn explained(kinds: &[&str]) -> BTreeSet<String> {
    let rows = codes().into_iter();
    let rows = rows.filter(|row| kinds.contains(&text(row, "kind").as_str()));
    rows.map(|row| text(&row, "code")).collect()
}

/// That every error has a code of the table is checked by the compiler.
#[test]
fn every_code_of_the_programs_own_is_one_that_some_error_has() {
    let files = code_of("");
    let uses = |piece: &str| {
        let mut others = files
            .iter()
            .filter(|(path, _)| !path.ends_with("outcome/code.rs"));
        others.any(|(_, code)| {
            code.match_indices(piece).any(|(at, _)| {
                let next = code[at + piece.len()..].chars().next();
                !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
            })
        })
    };
    let documented = explained(&["bookctl"]);
    let never: Vec<&String> = documented
        .iter()
        .filter(|code| !uses(&in_the_source(code)))
        .collect();
    assert!(
        never.is_empty(),
        "documented, and emitted nowhere: {never:?}"
    );
}

#[test]
fn every_code_that_the_sandbox_answers_with_is_in_the_catalog_and_the_other_way_round() {
    let emitted = of_the_service();
    let documented = explained(&["refusal", "booking error"]);
    let missing: Vec<&String> = emitted.difference(&documented).collect();
    assert!(missing.is_empty(), "not in the catalog: {missing:?}");
    let never: Vec<&String> = documented.difference(&emitted).collect();
    assert!(
        never.is_empty(),
        "documented, and emitted nowhere: {never:?}"
    );
}

/// The command that the error is about is the one that names the code.
#[test]
fn an_event_that_was_never_received_is_an_error_that_explain_knows() {
    let home = Home::new();
    let error = home
        .run(["webhook", "events", "show", "evt_never", "--json"])
        .refused(6, "unknown_event");
    let code = text(&error, "code");
    let explained = home.run(["explain", &code, "--json"]).exits(0).json();
    assert_eq!(explained["codes"][0]["exit_code"], 6, "{explained}");
}
