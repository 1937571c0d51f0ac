//! `--version --verbose`: what a report of a bug says about the program.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Home, installed, skipped, text};

#[test]
fn version_with_verbose_tells_how_the_program_was_built() {
    let home = Home::new();
    let details = home
        .run(["--version", "--verbose", "--json"])
        .exits(0)
        .json();
    assert_eq!(details["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(details["features"], json!(["default", "postgres"]));
    assert!(
        text(&details, "target").contains(std::env::consts::ARCH),
        "{details}"
    );
    assert!(
        details["sqlite"].as_str().unwrap().starts_with("3."),
        "{details}"
    );
    assert_eq!(details["tls"]["version"], locked("rustls"));
    assert_eq!(details["tls"]["provider_version"], locked("ring"));
    let human = home.run(["-vV"]).exits(0).stdout;
    assert!(human.starts_with("bookctl "), "{human}");
    for value in [
        &details["target"],
        &details["sqlite"],
        &details["tls"]["version"],
    ] {
        assert!(human.contains(value.as_str().unwrap()), "{human}");
    }
    let target = home
        .run(["--verbose", "--version", "--jq", ".target"])
        .exits(0);
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
        let output = home.run(arguments).exits(0);
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

/// What the build script says about the commit, in this folder and this profile.
fn commit(script: &Path, folder: &Path, profile: &str) -> String {
    let output = Command::new(script)
        .current_dir(folder)
        .env("PROFILE", profile)
        .env_remove("BOOKCTL_COMMIT")
        .output()
        .unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let lines = output.lines();
    let mut found = lines.filter_map(|line| line.strip_prefix("cargo:rustc-env=BUILT_COMMIT="));
    found.next().unwrap().to_owned()
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn the_commit_is_that_of_the_sources_and_of_nothing_around_them() {
    if !installed("git") {
        return skipped("git is not installed");
    }
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    let compiled = Command::new("rustc")
        .args(["--edition", "2024", "-o"])
        .arg(&script)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs"))
        .status();
    assert!(compiled.unwrap().success());
    let sources = folder.path().join("sources");
    fs::create_dir(&sources).unwrap();
    assert_eq!(commit(&script, &sources, "release"), "unknown");

    git(&sources, &["init", "--quiet"]);
    fs::write(sources.join("file"), "first").unwrap();
    git(&sources, &["add", "file"]);
    git(&sources, &["commit", "--quiet", "-m", "first"]);
    let head = git(&sources, &["rev-parse", "HEAD"]);
    assert_eq!(commit(&script, &sources, "release"), head);
    assert_eq!(commit(&script, &sources, "debug"), "unknown");
    fs::write(sources.join("file"), "second").unwrap();
    assert_eq!(
        commit(&script, &sources, "release"),
        format!("{head}-modified")
    );

    let vendored = sources.join("vendored");
    fs::create_dir(&vendored).unwrap();
    assert_eq!(commit(&script, &vendored, "release"), "unknown");
    let packaged: Value = json!({"git": {"sha1": "0123abcd"}, "path_in_vcs": ""});
    fs::write(vendored.join(".cargo_vcs_info.json"), packaged.to_string()).unwrap();
    assert_eq!(commit(&script, &vendored, "debug"), "0123abcd");
}
