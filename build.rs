//! What `bookctl --version --verbose` shows about the build.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    for name in ["BOOKCTL_COMMIT", "SOURCE_DATE_EPOCH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=Cargo.lock");
    let lock = fs::read_to_string("Cargo.lock").unwrap_or_default();
    set("BUILT_COMMIT", &commit());
    set("BUILT_TARGET", &variable("TARGET"));
    set("BUILT_PROFILE", &variable("PROFILE"));
    set("BUILT_RUSTLS", &locked(&lock, "rustls"));
    set("BUILT_RING", &locked(&lock, "ring"));
}

/// `cargo run` and `cargo test` set these variables for the program too, so no name may be one that
/// it reads.
fn set(name: &str, value: &str) {
    println!("cargo:rustc-env={name}={value}");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// The version of a package in Cargo.lock. rustls does not tell its own.
fn locked(lock: &str, package: &str) -> String {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    let version = lines.next().and_then(|line| line.strip_prefix("version = "));
    version.unwrap_or("unknown").trim_matches('"').to_owned()
}

/// The commit: from the environment, from the packaged crate, or from git; else `unknown`.
fn commit() -> String {
    let given = variable("BOOKCTL_COMMIT");
    if !given.is_empty() {
        return given;
    }
    let packaged = packaged_commit();
    // A development build would be built again after every commit, and is next to its sources
    // anyway.
    let found = packaged.or_else(|| match variable("PROFILE") == "release" {
        true => git_commit(),
        false => None,
    });
    found.unwrap_or_else(|| "unknown".to_owned())
}

/// `cargo package` writes the commit beside the sources.
fn packaged_commit() -> Option<String> {
    let file = ".cargo_vcs_info.json";
    if !Path::new(file).exists() {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let (_, after) = text.split_once("\"sha1\"")?;
    after.split('"').nth(1).map(str::to_owned)
}

/// The commit that is checked out, with `-modified` if a file differs from it.
fn git_commit() -> Option<String> {
    // The sources may lie inside the repository of another project.
    let here = fs::canonicalize(".").ok()?;
    if fs::canonicalize(git(&["rev-parse", "--show-toplevel"])?).ok()? != here {
        return None;
    }
    for name in ["HEAD", "index"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        println!("cargo:rerun-if-changed={path}");
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    let same = Command::new("git").args(["diff", "--quiet", "HEAD"]).status();
    match same.is_ok_and(|status| status.success()) {
        true => Some(commit),
        false => Some(format!("{commit}-modified")),
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end().to_owned())
}
