//! `--version --verbose`: what a report of a bug says about the program.

use serde_json::json;

use crate::harness::{Home, has, text};

#[test]
fn version_with_verbose_tells_how_the_program_was_built() {
    let home = Home::new();
    let details = home.json("--version --verbose");
    assert_eq!(details["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(details["features"], json!([]));
    has(&details, "target", std::env::consts::ARCH);
    assert!(
        details["sqlite"].as_str().unwrap().starts_with("3."),
        "{details}"
    );
    assert_eq!(details["tls"]["version"], locked("rustls"));
    assert_eq!(details["tls"]["provider_version"], locked("ring"));
    let human = home.ok(["-vV"]).stdout;
    assert!(human.starts_with("bookctl "), "{human}");
    for value in [
        &details["target"],
        &details["sqlite"],
        &details["tls"]["version"],
    ] {
        assert!(human.contains(value.as_str().unwrap()), "{human}");
    }
    let target = home.ok(["--verbose", "--version", "--jq", ".target"]);
    assert_eq!(target.stdout.trim(), text(&details, "target"));
    assert!(!home.path().exists(), "it needs no home");
}

#[test]
fn version_without_verbose_is_one_line_in_any_company() {
    let home = Home::new();
    for arguments in [
        &["--version"][..],
        &["-V"],
        &["--version", "--json"],
        &["-qV"],
    ] {
        let output = home.ok(arguments);
        assert_eq!(
            output.stdout,
            concat!("bookctl ", env!("CARGO_PKG_VERSION"), "\n")
        );
    }
}

/// The version of a package in Cargo.lock.
fn locked(package: &str) -> String {
    let lock = include_str!("../../Cargo.lock");
    let (_, after) = lock
        .split_once(&format!("name = \"{package}\"\nversion = \""))
        .unwrap();
    after.split('"').next().unwrap().to_owned()
}
