//! What `packaging/release` makes, and its installer against a server on loopback. Stand-ins take the place of the
//! programs of other platforms; packaging/check tries the real ones.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{Home, Output, Reply, Running, Scripted, installed, skipped};

const ADDRESS: &str = "https://example.com/bookctl";
const LINUX: &str = concat!(
    "bookctl-",
    env!("CARGO_PKG_VERSION"),
    "-x86_64-unknown-linux-musl"
);
const MACOS: &str = concat!(
    "bookctl-",
    env!("CARGO_PKG_VERSION"),
    "-aarch64-apple-darwin"
);
const WINDOWS: &str = concat!(
    "bookctl-",
    env!("CARGO_PKG_VERSION"),
    "-x86_64-pc-windows-gnu"
);

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Makes archives, installers and checksums in a folder.
fn make(folder: &Path, time_zone: &str, umask: &str) {
    let prebuilt = folder.join("prebuilt");
    for program in [
        "x86_64-unknown-linux-musl/bookctl",
        "aarch64-apple-darwin/bookctl",
        "x86_64-pc-windows-gnu/bookctl.exe",
    ] {
        let path = prebuilt.join(program);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let script = concat!("#!/bin/sh\necho bookctl ", env!("CARGO_PKG_VERSION"), "\n");
        fs::write(path, script).unwrap();
    }
    let script = format!("umask {umask}; exec packaging/release \"$@\"");
    let made = Command::new("sh")
        .current_dir(root())
        .args([
            "-c",
            &script,
            "sh",
            "--no-build",
            "--base-url",
            ADDRESS,
            "--prebuilt",
        ])
        .arg(&prebuilt)
        .arg("--out")
        .arg(folder.join("dist"))
        .args(["archives", "installers", "sums"])
        .env("SOURCE_DATE_EPOCH", "1795262400")
        .env("TZ", time_zone)
        .output()
        .unwrap();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
}

/// The folder of a release, made once; `None`, said in the log, where that is not to be had here.
fn release() -> Option<&'static Path> {
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

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|it| {
            (
                it.file_name().into_string().unwrap(),
                fs::read(it.path()).unwrap(),
            )
        })
        .collect()
}

/// The checksums by file name.
fn sums(release: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(release.join("SHA256SUMS")).unwrap();
    let lines = text.lines().map(|line| line.split_once("  ").unwrap());
    lines
        .map(|(sum, name)| (name.to_owned(), sum.to_owned()))
        .collect()
}

#[test]
fn the_same_commit_makes_the_same_bytes() {
    let Some(first) = release() else { return };
    let second = tempfile::tempdir().unwrap();
    make(second.path(), "Asia/Kathmandu", "077");
    let (first, second) = (files(first), files(&second.path().join("dist")));
    assert_eq!(
        first.keys().collect::<Vec<_>>(),
        second.keys().collect::<Vec<_>>()
    );
    for (name, content) in &first {
        assert!(second[name] == *content, "{name} differs");
    }
}

#[test]
fn an_archive_holds_the_program_its_manual_its_completions_and_all_licences() {
    let Some(release) = release() else { return };
    let listed = |program: &str, arguments: &[&str], archive: String| -> Vec<String> {
        let output = Command::new(program)
            .args(arguments)
            .arg(release.join(archive))
            .output();
        let listed = String::from_utf8(output.unwrap().stdout).unwrap();
        listed.lines().map(str::to_owned).collect()
    };
    let linux = listed("tar", &["-tzf"], format!("{LINUX}.tar.gz"));
    let python = "import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist(), sep='\\n')";
    let windows = listed("python3", &["-c", python], format!("{WINDOWS}.zip"));
    let mut beside = vec![
        "README.md".to_owned(),
        "LICENSE-MIT".to_owned(),
        "LICENSE-APACHE".to_owned(),
        "THIRD-PARTY-LICENSES.txt".to_owned(),
    ];
    for (folder, inside) in [("docs/man", "man"), ("completions", "completions")] {
        beside.extend(
            files(&root().join(folder))
                .keys()
                .map(|name| format!("{inside}/{name}")),
        );
    }
    for (folder, program, listed) in [(LINUX, "bookctl", linux), (WINDOWS, "bookctl.exe", windows)]
    {
        for name in beside.iter().map(String::as_str).chain([program]) {
            assert!(
                listed.contains(&format!("{folder}/{name}")),
                "{name} is not in {listed:?}"
            );
        }
    }
}

#[test]
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
    for archive in [LINUX, MACOS].map(|name| format!("{name}.tar.gz")) {
        let wanted = format!(
            "url \"{ADDRESS}/{archive}\"\n      sha256 \"{}\"",
            sums[&archive]
        );
        assert!(formula.contains(&wanted), "{formula}");
    }
    assert!(!formula.contains('@'), "{formula}");
    let scoop: Value =
        serde_json::from_slice(&fs::read(release.join("bookctl.json")).unwrap()).unwrap();
    let windows = &scoop["architecture"]["64bit"];
    assert_eq!(windows["url"], format!("{ADDRESS}/{WINDOWS}.zip"));
    assert_eq!(windows["hash"], *sums[&format!("{WINDOWS}.zip")]);
    assert_eq!(windows["extract_dir"], WINDOWS);
    for installer in ["install.sh", "install.ps1"] {
        let text = fs::read_to_string(release.join(installer)).unwrap();
        assert!(
            text.contains(&format!("'{ADDRESS}'")),
            "{installer} does not know its address"
        );
    }
}

/// Serves the files of a folder.
fn serve(folder: PathBuf) -> Scripted {
    Scripted::start(
        move |request| match fs::read(folder.join(&request.path[1..])) {
            Ok(content) => {
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    content.len()
                );
                Reply::Raw([head.into_bytes(), content].concat())
            }
            Err(_) => Reply::Whole(404, "text/plain", String::new()),
        },
    )
}

/// Runs packaging/install.sh on a system that `programs` stand for: a script by its name, or one of this system.
fn install(
    home: &Home,
    arguments: &[&str],
    programs: &[(&str, &str)],
    leave_out: &[&str],
) -> Output {
    let tools = home.folder().join("tools");
    let _ = fs::remove_dir_all(&tools);
    fs::create_dir(&tools).unwrap();
    for name in [
        "sh",
        "sed",
        "head",
        "cut",
        "tar",
        "gzip",
        "mkdir",
        "mktemp",
        "rm",
        "cp",
        "mv",
        "chmod",
        "cat",
        "curl",
        "wget",
        "sha256sum",
        "echo",
    ] {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join(name))
            .find(|path| path.exists());
        if let Some(found) = found.filter(|_| !leave_out.contains(&name)) {
            symlink(found, tools.join(name)).unwrap();
        }
    }
    let linux = ("uname", "[ \"$1\" = -m ] && echo x86_64 || echo Linux");
    for (name, script) in [linux].iter().chain(programs) {
        let path = tools.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new("/bin/sh");
    home.enter(&mut command);
    let path = std::env::join_paths([tools, home.folder().join("on-path/bin")]).unwrap();
    command
        .arg(root().join("packaging/install.sh"))
        .args(arguments)
        .env("PATH", path);
    Running::start(command).end()
}

/// What stands below a folder that must not have been written to.
fn is_empty(folder: &Path) -> bool {
    !folder.exists() || fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn the_installer_installs_what_has_the_right_checksum() {
    let Some(release) = release() else { return };
    let (server, home) = (serve(release.to_owned()), Home::new());
    let from = ["--from", server.base_url()];
    let output = install(&home, &from, &[], &[]).exits(0);
    let prefix = home.folder().join(".local");
    let program = prefix.join("bin/bookctl");
    let said = format!(
        "installed bookctl {} as {}",
        env!("CARGO_PKG_VERSION"),
        program.display()
    );
    assert!(output.stdout.contains(&said), "{output}");
    assert!(output.stdout.contains("is not on your PATH"), "{output}");
    assert!(Command::new(&program).status().unwrap().success());
    assert!(prefix.join("share/man/man1/bookctl.1").exists());

    // Once more, over it, and to a folder that is on the PATH.
    install(&home, &from, &[], &[]).exits(0);
    let elsewhere = home.folder().join("on-path");
    let output = install(
        &home,
        &[&from[..], &["--prefix", elsewhere.to_str().unwrap()]].concat(),
        &[],
        &[],
    );
    assert!(!output.exits(0).stdout.contains("PATH"));
    assert!(elsewhere.join("bin/bookctl").exists());
}

#[test]
fn the_installer_takes_the_archive_of_its_system() {
    let Some(release) = release() else { return };
    let (server, home) = (serve(release.to_owned()), Home::new());
    let mac = ("uname", "[ \"$1\" = -m ] && echo arm64 || echo Darwin");
    install(&home, &["--from", server.base_url()], &[mac], &[]).exits(0);
    let taken = server.requests().pop().unwrap().path;
    assert_eq!(taken, format!("/{MACOS}.tar.gz"));
}

#[test]
fn the_installer_installs_nothing_that_has_another_checksum() {
    let Some(release) = release() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, mut content) in files(release) {
        if name == format!("{LINUX}.tar.gz") {
            content.push(0);
        }
        fs::write(folder.path().join(name), content).unwrap();
    }
    let (server, home) = (serve(folder.path().to_owned()), Home::new());
    let output = install(&home, &["--from", server.base_url()], &[], &[]).exits(1);
    assert!(output.stderr.contains("the checksum of"), "{output}");
    assert!(output.stderr.contains("nothing was installed"), "{output}");
    assert!(
        is_empty(&home.folder().join(".local")),
        "something was installed"
    );
}

#[test]
fn the_installer_says_what_is_missing_and_what_to_do() {
    let Some(release) = release() else { return };
    let (server, home) = (serve(release.to_owned()), Home::new());
    let from = ["--from", server.base_url()];
    let mips = ("uname", "[ \"$1\" = -m ] && echo mips || echo Linux");
    let bsd = ("uname", "[ \"$1\" = -m ] && echo amd64 || echo FreeBSD");
    let arm = ("uname", "[ \"$1\" = -m ] && echo aarch64 || echo Linux");
    let nowhere = format!("{}/nowhere", server.base_url());
    let unread = home.folder().join("tools/cat/below");
    for (arguments, programs, leave_out, sentence) in [
        (
            &from[..],
            &[][..],
            &["curl", "wget"][..],
            "neither curl nor wget is installed",
        ),
        (
            &from,
            &[],
            &["sha256sum"],
            "neither sha256sum nor shasum is installed",
        ),
        (&from, &[mips], &[], "there is no bookctl for Linux on mips"),
        (
            &from,
            &[bsd],
            &[],
            "there is no bookctl for FreeBSD on amd64",
        ),
        (&from, &[arm], &[], "has no bookctl for Linux on aarch64"),
        (&[], &[], &[], "there is no address to download from"),
        (
            &["--from", &nowhere],
            &[],
            &[],
            "SHA256SUMS cannot be downloaded",
        ),
        (&["--from"], &[], &[], "--from needs a value"),
        (&["--frm"], &[], &[], "unknown argument: --frm"),
        (
            &[from[0], from[1], "--prefix", unread.to_str().unwrap()],
            &[],
            &[],
            "cannot be written",
        ),
    ] {
        let output = install(&home, arguments, programs, leave_out).exits(1);
        let mut said = output
            .stderr
            .lines()
            .filter(|line| line.starts_with("error: "));
        assert!(
            said.next().is_some_and(|line| line.contains(sentence)),
            "{sentence}: {output}"
        );
        assert!(output.stderr.contains("\n  hint: "), "{output}");
        assert!(
            is_empty(&home.folder().join(".local")),
            "something was installed"
        );
    }
}

#[test]
fn the_installer_works_with_wget_alone() {
    if !installed("wget") {
        // Not in the list of what tests need: curl is what most systems have.
        return;
    }
    let Some(release) = release() else { return };
    let (server, home) = (serve(release.to_owned()), Home::new());
    install(&home, &["--from", server.base_url()], &[], &["curl"]).exits(0);
    assert!(home.folder().join(".local/bin/bookctl").exists());
}

/// The files that packaging, its workflows and the manifest of the Debian package name are there.
#[test]
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
        let paths = words.filter(|word| {
            ["packaging/", ".ci/", "tests/"]
                .iter()
                .any(|it| word.starts_with(it))
        });
        let paths: Vec<_> = paths.map(str::to_owned).collect();
        assert!(!paths.is_empty(), "{name} names no script");
        named.extend(paths);
    }
    for path in named.iter().filter(|path| !path.starts_with("target/")) {
        let path = path.split('*').next().unwrap();
        assert!(root().join(path).exists(), "{path} is not there");
    }
}
