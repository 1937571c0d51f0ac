//! What `packaging/release` makes. Stand-ins take the place of the programs of other platforms;
//! packaging/check tries the real ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{holds, installed, skipped};

const ADDRESS: &str = "https://example.com/bookctl";
const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(crate) const LINUX: &str = "x86_64-unknown-linux-musl";
pub(crate) const MACOS: &str = "aarch64-apple-darwin";
const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// The name of an archive without its ending, and of the folder in it.
pub(crate) fn archive(system: &str) -> String {
    format!("bookctl-{VERSION}-{system}")
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Makes archives, installers and checksums in a folder.
fn make(folder: &Path, time_zone: &str, umask: &str) {
    let prebuilt = folder.join("prebuilt");
    for (system, ending) in [(LINUX, ""), (MACOS, ""), (WINDOWS, ".exe")] {
        let folder = prebuilt.join(system);
        fs::create_dir_all(&folder).unwrap();
        let script = format!("#!/bin/sh\necho bookctl {VERSION}\n");
        fs::write(folder.join(format!("bookctl{ending}")), script).unwrap();
    }
    let script = format!("umask {umask}; exec packaging/release \"$@\"");
    let made = Command::new("sh")
        .current_dir(root())
        .args(["-c", &script, "sh", "--no-build", "--base-url", ADDRESS, "--prebuilt"])
        .arg(&prebuilt)
        .arg("--out")
        .arg(folder.join("dist"))
        .args(["archives", "wheels", "npm", "images", "installers", "sums"])
        .env("SOURCE_DATE_EPOCH", "1795262400")
        .env("TZ", time_zone)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// The folder of a release, made once; `None`, said in the log, where that is not to be had here.
pub(crate) fn release() -> Option<&'static Path> {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    if !installed("python3") {
        skipped("python3 is not installed");
        return None;
    }
    let made = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), "UTC", "022");
        folder
    });
    Some(Box::leak(made.path().join("dist").into_boxed_path()))
}

pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let named =
        |it: fs::DirEntry| (it.file_name().into_string().unwrap(), fs::read(it.path()).unwrap());
    entries.map(named).collect()
}

/// The checksums by file name.
fn sums(release: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(release.join("SHA256SUMS")).unwrap();
    let lines = text.lines().map(|line| line.split_once("  ").unwrap());
    lines.map(|(sum, name)| (name.to_owned(), sum.to_owned())).collect()
}

#[test]
#[ignore = "builds and installs packages"]
fn the_same_commit_makes_the_same_bytes() {
    let Some(first) = release() else { return };
    let second = tempfile::tempdir().unwrap();
    make(second.path(), "Asia/Kathmandu", "077");
    let (first, second) = (files(first), files(&second.path().join("dist")));
    assert_eq!(first.keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>());
    for (name, content) in &first {
        assert!(second[name] == *content, "{name} differs");
    }
}

#[test]
#[ignore = "builds and installs packages"]
fn archive_holds_program_its_manual_its_completions() {
    let Some(release) = release() else { return };
    let listed = |program: &str, arguments: &[&str], archive: String| -> Vec<String> {
        let output = Command::new(program).args(arguments).arg(release.join(archive)).output();
        let listed = String::from_utf8(output.unwrap().stdout).unwrap();
        listed.lines().map(str::to_owned).collect()
    };
    let linux = listed("tar", &["-tzf"], format!("{}.tar.gz", archive(LINUX)));
    let python = "import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist(), sep='\\n')";
    let windows = listed("python3", &["-c", python], format!("{}.zip", archive(WINDOWS)));
    let mut beside = vec![
        "README.md".to_owned(),
        "LICENSE-MIT".to_owned(),
        "LICENSE-APACHE".to_owned(),
        "THIRD-PARTY-LICENSES.txt".to_owned(),
    ];
    for (folder, inside) in [("docs/man", "man"), ("completions", "completions")] {
        beside.extend(files(&root().join(folder)).keys().map(|name| format!("{inside}/{name}")));
    }
    for (system, program, listed) in [(LINUX, "bookctl", linux), (WINDOWS, "bookctl.exe", windows)]
    {
        let folder = archive(system);
        for name in beside.iter().map(String::as_str).chain([program]) {
            assert!(listed.contains(&format!("{folder}/{name}")), "{name} is not in {listed:?}");
        }
    }
}

#[test]
#[ignore = "builds and installs packages"]
fn the_checksums_and_manifests_are_those_of_the_archives() {
    let Some(release) = release() else { return };
    let checked = Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet", "SHA256SUMS"])
        .current_dir(release)
        .output()
        .unwrap();
    assert!(checked.status.success(), "{checked:?}");
    let sums = sums(release);
    assert_eq!(sums.len() + 1, files(release).len(), "{sums:?}");

    let formula = fs::read_to_string(release.join("bookctl.rb")).unwrap();
    for archive in [LINUX, MACOS].map(|system| format!("{}.tar.gz", archive(system))) {
        let wanted = format!("url \"{ADDRESS}/{archive}\"\n      sha256 \"{}\"", sums[&archive]);
        assert!(formula.contains(&wanted), "{formula}");
    }
    assert!(!formula.contains('@'), "{formula}");
    let scoop: Value =
        serde_json::from_slice(&fs::read(release.join("bookctl.json")).unwrap()).unwrap();
    let windows = &scoop["architecture"]["64bit"];
    let folder = archive(WINDOWS);
    assert_eq!(windows["url"], format!("{ADDRESS}/{folder}.zip"));
    holds!(windows, {"hash": *sums[&format!("{folder}.zip")], "extract_dir": folder});
    for installer in ["install.sh", "install.ps1"] {
        let text = fs::read_to_string(release.join(installer)).unwrap();
        assert!(text.contains(&format!("'{ADDRESS}'")), "{installer} does not know its address");
    }
}

/// The files that packaging, its workflows and the manifest of the Debian package name are there.
#[test]
#[ignore = "builds and installs packages"]
fn whatever_the_packages_name_exists() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let deb = &manifest["package"]["metadata"]["deb"];
    let mut named: Vec<String> = deb["assets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|asset| asset[0].as_str().unwrap().to_owned())
        .collect();
    named.push(deb["changelog"].as_str().unwrap().to_owned());
    named.push(deb["license-file"][0].as_str().unwrap().to_owned());
    let workflows = files(&root().join(".github/workflows"));
    assert!(!workflows.is_empty());
    for (name, text) in workflows {
        let text = String::from_utf8(text).unwrap();
        let words = text.split(|it: char| it.is_whitespace() || "\"'`(),".contains(it));
        let paths = words
            .filter(|word| ["packaging/", ".ci/", "tests/"].iter().any(|it| word.starts_with(it)));
        let paths: Vec<_> = paths.map(str::to_owned).collect();
        assert!(!paths.is_empty(), "{name} names no script");
        named.extend(paths);
    }
    for path in named.iter().filter(|path| !path.starts_with("target/")) {
        let path = path.split('*').next().unwrap();
        assert!(root().join(path).exists(), "{path} is not there");
    }
}

#[test]
fn oldest_rust_of_the_workflow_is_the_promised_one() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let promised = manifest["package"]["rust-version"].as_str().unwrap();
    for (page, names) in [
        ("README.md", format!("{promised} or newer")),
        ("docs/install.md", format!("{promised} or newer")),
        (".github/workflows/ci.yml", format!("rust:{promised}-")),
    ] {
        assert!(read(page).contains(&names), "{page} promises another Rust than {promised}");
    }
}
