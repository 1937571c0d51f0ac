//! The codes of errors: each in the catalog is emitted, by the program or by the sandbox as the
//! service does, and what the sandbox answers with is in the catalog.

use std::collections::BTreeSet;
use std::path::Path;

use crate::explained::codes;
use crate::harness::text;

/// The program's text under a path of `src`: what is compiled into it, without the catalog.
fn source(path: &Path) -> String {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).unwrap();
        return entries.map(|it| source(&it.unwrap().path())).collect();
    }
    if path.iter().any(|it| it == "tests" || it == "tests.rs") || path.ends_with("outcome/code.rs")
    {
        return String::new();
    }
    let text = std::fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]\nmod tests").next().unwrap().into()
}

fn src(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    source(&root.join(path))
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
    let source = src("");
    let name =
        |rest: &str| -> String { rest.chars().take_while(|c| c.is_alphanumeric()).collect() };
    let used: BTreeSet<String> = source.split("Code::").skip(1).map(name).collect();
    for code in explained(&["bookctl"]) {
        let words = code.split('_');
        let words = words.map(|word| word[..1].to_uppercase() + &word[1..]);
        let is_used = used.contains(&words.collect::<String>());
        assert!(is_used, "{code} is documented, and emitted nowhere");
    }
}

#[test]
fn every_code_that_sandbox_answers_with_is_in_catalog() {
    let refusals = src("sandbox/rules/api_error.rs");
    // A code is one word, in `error_code` or, in older refusals, in `error`, where the others have
    // a sentence.
    let after = ["\"error\": \"", "\"error_code\": \""].map(|name| refusals.split(name).skip(1));
    let codes = after.into_iter().flatten().map(|rest| rest.split('"').next().unwrap());
    let is_code = |text: &&str| text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let mut emitted: BTreeSet<String> = codes.filter(is_code).map(str::to_owned).collect();
    // Those of a table have it after their text, and may have none.
    let fixed = refusals.lines().filter(|line| line.contains("= Self::Fixed("));
    let fixed = fixed.filter_map(|row| row.split('"').nth(3));
    emitted.extend(fixed.map(str::to_owned));
    emitted.remove("");
    let of_bookings = src("sandbox/rules/state.rs");
    let rows = of_bookings.lines().map(str::trim);
    let rows = rows.filter(|line| line.ends_with("\"],"));
    let rows = rows.filter_map(|row| row.split('"').nth(1));
    emitted.extend(rows.map(str::to_owned));
    assert_eq!(emitted, explained(&["refusal", "booking error"]));
}
