//! The recipes of docs/testing.md, run as they are written.

use std::path::Path;
use std::process::Command;

use crate::channels::{node_with_package, python_with_wheel};
use crate::harness::Home;

/// The recipe for Rust is this module.
mod rust;

const PAGE: &str = include_str!("../../docs/testing.md");
const BOOKCTL: &str = env!("CARGO_BIN_EXE_bookctl");

/// The first block of a language among the recipes.
fn recipe(language: &str) -> &'static str {
    let (_, recipes) = PAGE.split_once("## Recipes").unwrap();
    let (_, rest) = recipes.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```\n").unwrap().0
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
fn the_recipe_for_pytest_passes() {
    let Some(python) = python_with_wheel() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("test_bookings.py"), recipe("python")).unwrap();
    run(
        python.to_str().unwrap(),
        &["-m", "pytest", "-q", "-n", "2", "test_bookings.py"],
        folder.path(),
    );
}

#[test]
#[ignore = "needs pytest, vitest and a shell"]
fn the_recipe_for_vitest_passes() {
    let Some((node, project)) = node_with_package() else { return };
    std::fs::write(project.join("bookings.test.js"), recipe("js")).unwrap();
    run(
        &node,
        &["../node_modules/vitest/vitest.mjs", "run", "--root", ".", "bookings.test.js"],
        project,
    );
}

#[test]
#[ignore = "needs pytest, vitest and a shell"]
fn the_recipe_for_a_shell_passes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bookings.sh"), recipe("sh")).unwrap();
    let first = recipe("sh").lines().find(|it| it.starts_with("# bookctl "));
    let line: Vec<&str> = first.unwrap().split(' ').skip(2).collect();
    assert_eq!(line.last(), Some(&"bookings.sh"));
    run(BOOKCTL, &line, folder.path());
}

#[test]
fn the_recipe_for_rust_is_the_module_that_these_tests_run() {
    let (_, shown) = recipe("rust").split_once('\n').unwrap();
    let written = include_str!("recipes/rust.rs");
    assert!(shown == written, "copy tests/e2e/recipes/rust.rs into docs/testing.md");
}
