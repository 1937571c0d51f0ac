//! The points that the specification leaves open: each with the variants of the foreign service
//! that differ there, and the tests that prove what bookctl makes of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::harness::{installed, skipped};

/// The head of `docs/dev/open-points.md`.
const HEAD: &str = "\
# What a service may choose otherwise

After reading this page you know which points the service's specification leaves open, how the services that bookctl is
tested with differ there, and which tests prove what bookctl makes of it.

The table is generated from `tests/foreign`, an independent service with ten variants, written from the specification
alone. *Reference* is what bookctl's own sandbox does. What to set where a service differs is in
[connect.md](../connect.md) and [mapping.md](../mapping.md).

| # | part | open | reference | variants that differ | tests |
| --- | --- | --- | --- | --- | --- |
";

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Whether `module::test` is a test of this program.
fn exists(test: &str) -> bool {
    let (module, name) = test.split_once("::").unwrap();
    let source = file(&format!("tests/e2e/{module}.rs"));
    source.contains(&format!("fn {name}(")) || source.contains(&format!("    {name} = \""))
}

#[test]
fn every_open_point_has_its_variants_and_its_tests_in_documents() {
    if !installed("python3") {
        skipped("python3 is missing, so the foreign service cannot describe itself");
        return;
    }
    let points: BTreeMap<String, [String; 2]> =
        toml::from_str(&file("tests/foreign/points.toml")).unwrap();
    let tests: BTreeMap<String, Vec<String>> =
        toml::from_str(&file("tests/foreign/tests.toml")).unwrap();
    let variants = Command::new("python3")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/variants.py"))
        .output()
        .unwrap();
    let variants = String::from_utf8(variants.stdout).unwrap();
    let mut page = HEAD.to_owned();
    for row in variants.lines() {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [number, reference, differing] = cells[..] else {
            continue;
        };
        let Some([part, open]) = points.get(number) else {
            continue;
        };
        assert!(differing.contains("**"), "no variant differs at {number}");
        let tests = tests.get(number).map_or(&[][..], Vec::as_slice);
        for test in tests {
            assert!(exists(test), "{number}: there is no test {test}");
        }
        let tests: Vec<String> = tests.iter().map(|test| format!("`{test}`")).collect();
        let tests = match tests.is_empty() {
            true => "none yet".to_owned(),
            false => tests.join(", "),
        };
        page.push_str(&format!(
            "| {number} | {part} | {open} | {reference} | {differing} | {tests} |\n"
        ));
    }
    let rows =
        page.lines().filter(|line| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit());
    assert_eq!(rows.count(), points.len());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/dev/open-points.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/dev/open-points.md is not what the tests say: run with UPDATE_DOCS=1"
    );
}
