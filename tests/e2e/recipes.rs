//! The programs of `examples`, run as they are written.

use std::path::Path;
use std::process::Command;

use crate::channels::{node_with_package, python_with_wheel};
use crate::harness::Home;

#[path = "../../examples/rust/bookings.rs"]
mod rust;

const BOOKCTL: &str = env!("CARGO_BIN_EXE_bookctl");

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Runs a command in a folder that has a recipe in a file, with bookctl on the `PATH`.
fn run(program: &str, arguments: &[&str], folder: &Path) {
    let home = Home::new();
    let path = std::env::var("PATH").unwrap();
    let own = Path::new(BOOKCTL).parent().unwrap().display();
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("PATH", format!("{own}:{path}"))
        .env("BOOKCTL_HOME", home.path())
        .env_remove("BOOKCTL_PROFILE")
        .env_remove("BOOKCTL_BASE_URL")
        .env_remove("BOOKCTL_API_KEY")
        .output()
        .unwrap();
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    assert!(output.status.success(), "{stdout}{stderr}");
}

#[test]
#[ignore = "needs pytest, vitest and a shell"]
fn pytest_example_passes() {
    let Some(python) = python_with_wheel() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("test_bookings.py"), example("test_bookings.py")).unwrap();
    run(
        python.to_str().unwrap(),
        &["-m", "pytest", "-q", "-n", "2", "test_bookings.py"],
        folder.path(),
    );
}

#[test]
#[ignore = "needs pytest, vitest and a shell"]
fn vitest_example_passes() {
    let Some((node, project)) = node_with_package() else { return };
    std::fs::write(project.join("bookings.test.js"), example("bookings.test.js")).unwrap();
    run(
        &node,
        &["../node_modules/vitest/vitest.mjs", "run", "--root", ".", "bookings.test.js"],
        project,
    );
}

#[test]
#[ignore = "needs pytest, vitest and a shell"]
fn shell_example_passes() {
    let folder = tempfile::tempdir().unwrap();
    let script = example("bookings.sh");
    std::fs::write(folder.path().join("bookings.sh"), &script).unwrap();
    let first = script.lines().find(|it| it.starts_with("# bookctl "));
    let line: Vec<&str> = first.unwrap().split(' ').skip(2).collect();
    assert_eq!(line.last(), Some(&"bookings.sh"));
    run(BOOKCTL, &line, folder.path());
}

/// The blocks of a page in languages that the tests cannot run there are parts of these programs.
#[test]
fn testing_page_shows_parts_of_the_examples() {
    let page = include_str!("../../docs/testing.md");
    for (language, name) in [("python", "test_bookings.py"), ("js", "bookings.test.js")] {
        let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
        let (block, _) = rest.split_once("```\n").unwrap();
        assert!(example(name).contains(block), "{name}");
    }
}
