//! The registry of statements, and what keeps it honest: it covers every word of the
//! specification, its tests exist and are named for the statement that they prove, and
//! `docs/dev/conformance.md` is generated from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use serde::Deserialize;

const SPECIFICATION: &str = include_str!("booking-service.md");
const STATEMENTS: &str = include_str!("statements.toml");

#[derive(Deserialize)]
struct Registry {
    section: Vec<Section>,
}

#[derive(Deserialize)]
struct Section {
    title: String,
    /// Whether its statements are the specification's own words.
    #[serde(default)]
    settled: bool,
    statement: Vec<Statement>,
}

#[derive(Deserialize)]
struct Statement {
    id: String,
    words: String,
    #[serde(default)]
    tests: Vec<String>,
    /// Why there is nothing to test.
    untested: Option<String>,
    /// What the tests do otherwise than the words say.
    note: Option<String>,
}

impl Registry {
    fn read() -> Self {
        toml::from_str(STATEMENTS).unwrap()
    }

    fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.section.iter().flat_map(|it| &it.statement)
    }
}

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "conformance"].iter().collect()
}

/// The name of every test of the suite, read off the sources.
fn tests() -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let is_source = path.extension().is_some_and(|it| it == "rs");
        if !is_source || path.ends_with("registry.rs") {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = source.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate() {
            if *line != "#[test]" {
                continue;
            }
            let name = lines[index + 1..]
                .iter()
                .find_map(|it| it.strip_prefix("fn "))
                .and_then(|it| it.split_once('('))
                .map(|(name, _)| name.to_owned())
                .unwrap();
            assert!(tests.insert(name.clone()), "two tests are named {name}");
        }
    }
    assert!(tests.len() > 100, "the sources of the suite were read");
    tests
}

/// The statement that a test's name begins with: the longest id that fits.
fn statement_of<'a>(registry: &'a Registry, test: &str) -> Option<&'a Statement> {
    registry
        .statements()
        .filter(|it| test.strip_prefix(&it.id).is_some_and(|rest| rest.starts_with('_')))
        .max_by_key(|it| it.id.len())
}

/// The specification's sentences and rows, one line each: no headings, no heads of tables.
fn sentences() -> String {
    let lines: Vec<&str> = SPECIFICATION.lines().map(str::trim).collect();
    let is_rule = |it: &&str| it.starts_with('|') && it.chars().all(|it| it == '|' || it == '-');
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        let heads_table = lines.get(index + 1).is_some_and(is_rule);
        if line.starts_with('#') || is_rule(line) || heads_table {
            continue;
        }
        let number = line.trim_start_matches(|it: char| it.is_ascii_digit());
        let line = number.strip_prefix(". ").filter(|_| number != *line).unwrap_or(line);
        let line = line.strip_prefix("- ").unwrap_or(line);
        text.push_str(line.trim_matches('|').trim());
        text.push('\n');
    }
    text
}

#[test]
fn statements_are_the_whole_specification_in_its_order() {
    let text = sentences();
    let mut rest = text.as_str();
    let registry = Registry::read();
    let sections = registry.section.iter().filter(|it| !it.settled);
    for statement in sections.flat_map(|it| &it.statement) {
        let Some((skipped, after)) = rest.split_once(&statement.words) else {
            panic!("{} quotes what the specification does not say here", statement.id);
        };
        let left_out = skipped.trim_matches(|it: char| !it.is_alphanumeric());
        assert_eq!(left_out, "", "no statement before {} says this", statement.id);
        rest = after;
    }
    assert_eq!(rest.trim(), "", "no statement says this");
}

#[test]
fn ids_are_unique_and_every_statement_has_a_test_or_a_reason() {
    let registry = Registry::read();
    let mut ids = BTreeSet::new();
    for statement in registry.statements() {
        assert!(ids.insert(&statement.id), "{} twice", statement.id);
        let has_tests = !statement.tests.is_empty();
        assert_ne!(
            has_tests,
            statement.untested.is_some(),
            "{} needs a test, or the reason why it has none",
            statement.id
        );
    }
}

#[test]
fn tests_and_statements_name_each_other() {
    let registry = Registry::read();
    let tests = tests();
    for statement in registry.statements() {
        for test in &statement.tests {
            assert!(tests.contains(test), "{}: no test {test}", statement.id);
        }
    }
    for test in &tests {
        let statement = statement_of(&registry, test);
        let statement = statement.unwrap_or_else(|| panic!("{test} names no statement"));
        assert!(statement.tests.contains(test), "{} does not list {test}", statement.id);
    }
}

fn escaped(words: &str) -> String {
    words.replace('|', "\\|").replace('<', "&lt;")
}

/// `docs/dev/conformance.md`.
fn document(registry: &Registry) -> String {
    let mut page = String::from(
        "# Conformance\n\n\
         After reading this page you know which statements of the specification are\n\
         tested, and where. The tests in `tests/conformance` run against the served\n\
         sandbox. This page is generated from\n\
         `tests/conformance/statements.toml`; `UPDATE_DOCS=1 cargo test --test conformance`\n\
         writes it anew.\n\n",
    );
    let mut totals =
        String::from("| section | statements | with a test | without |\n|---|---:|---:|---:|\n");
    let mut sum = [0; 3];
    for section in &registry.section {
        let all = section.statement.len();
        let tested = section.statement.iter().filter(|it| !it.tests.is_empty()).count();
        for (sum, number) in sum.iter_mut().zip([all, tested, all - tested]) {
            *sum += number;
        }
        let title = &section.title;
        let _ = writeln!(totals, "| {title} | {all} | {tested} | {} |", all - tested);
    }
    let [all, tested, untested] = sum;
    let _ = writeln!(totals, "| **all** | **{all}** | **{tested}** | **{untested}** |");
    page.push_str(&totals);

    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in registry.statements().filter_map(|it| it.untested.as_deref()) {
        *reasons.entry(reason).or_default() += 1;
    }
    page.push_str("\nWhy statements have no test:\n\n");
    for (reason, number) in reasons {
        let _ = writeln!(page, "- {number}: {reason}");
    }
    for section in &registry.section {
        let _ = write!(page, "\n## {}\n\n", section.title);
        page.push_str("| id | statement | proved by |\n|---|---|---|\n");
        for statement in &section.statement {
            let proof = match &statement.untested {
                Some(reason) => format!("— {reason}"),
                None => {
                    let names = statement.tests.iter().map(|it| format!("`{it}`"));
                    names.chain(statement.note.clone()).collect::<Vec<_>>().join("<br>")
                }
            };
            let words = escaped(&statement.words);
            let _ = writeln!(page, "| {} | {words} | {proof} |", statement.id);
        }
    }
    page
}

#[test]
fn the_committed_page_is_what_follows_from_the_registry() {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "docs", "dev", "conformance.md"].iter().collect();
    let page = document(&Registry::read());
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        committed == page,
        "docs/dev/conformance.md is not up to date: UPDATE_DOCS=1 cargo test --test conformance"
    );
}
