//! `packaging/install.sh`, against a server on loopback that has what `packaging/release` makes.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Home, Output, Reply, Running, Scripted, installed};
use crate::packaging::{LINUX, MACOS, archive, files, release, root};

/// Serves the files of a folder.
fn serve(folder: PathBuf) -> Scripted {
    Scripted::start(move |request| match fs::read(folder.join(&request.path[1..])) {
        Ok(content) => {
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                content.len()
            );
            Reply::Raw([head.into_bytes(), content].concat())
        }
        Err(_) => Reply::Whole(404, "text/plain", String::new()),
    })
}

/// A release that is served, and a home to install it in.
fn served() -> Option<(Scripted, Home)> {
    let release = release()?;
    Some((serve(release.to_owned()), Home::new()))
}

/// Runs packaging/install.sh on a system that `programs` stand for: a script by its name, or one of
/// this system.
fn install(
    home: &Home,
    arguments: &[&str],
    programs: &[(&str, &str)],
    leave_out: &[&str],
) -> Output {
    let mut command = shell(home, programs, leave_out);
    command.arg(root().join("packaging/install.sh")).args(arguments);
    Running::start(command).end()
}

/// A shell of that system, with nothing to run yet.
fn shell(home: &Home, programs: &[(&str, &str)], leave_out: &[&str]) -> Command {
    let tools = home.folder().join("tools");
    let _ = fs::remove_dir_all(&tools);
    fs::create_dir(&tools).unwrap();
    let needed =
        "sh sed head cut tar gzip mkdir mktemp rm cp mv chmod cat grep curl wget sha256sum echo";
    for name in needed.split(' ') {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join(name))
            .find(|path| path.exists());
        if let Some(found) = found.filter(|_| !leave_out.contains(&name)) {
            symlink(found, tools.join(name)).unwrap();
        }
    }
    let linux = ("uname", "[ \"$1\" = -m ] && echo x86_64 || echo Linux");
    for (name, script) in [linux].iter().chain(programs) {
        // Another process writes it: a test that starts a program meanwhile would hold it open.
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$2\"; chmod 755 \"$2\"";
        let path = tools.join(name);
        let mut shell = Command::new("/bin/sh");
        let written = shell.args(["-c", write, "sh", script]).arg(path).status().unwrap();
        assert!(written.success());
    }
    let mut command = home.program("/bin/sh");
    let path = std::env::join_paths([tools, home.folder().join("on-path/bin")]).unwrap();
    command.env("PATH", path);
    command
}

/// Writes a program that prints a line.
fn place(path: &Path, line: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\necho {line}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The names of what stands below a folder, if it is there.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
#[ignore = "builds and installs packages"]
fn the_installer_installs_what_has_the_right_checksum() {
    let Some((site, home)) = served() else { return };
    let from = ["--from", site.base_url()];
    let output = install(&home, &from, &[], &[]).exits(0);
    let prefix = home.folder().join(".local");
    let program = prefix.join("bin/bookctl");
    let said = format!("installed bookctl {} as {}", env!("CARGO_PKG_VERSION"), program.display());
    output.shows(&said);
    output.shows("is not on your PATH");
    assert!(Command::new(&program).status().unwrap().success());
    assert!(prefix.join("share/man/man1/bookctl.1").exists());

    // Once more, over it, and to a folder that is on the PATH.
    install(&home, &from, &[], &[]).exits(0);
    let elsewhere = home.folder().join("on-path");
    let output =
        install(&home, &[&from[..], &["--prefix", elsewhere.to_str().unwrap()]].concat(), &[], &[]);
    assert!(!output.exits(0).stdout.contains("PATH"));
    assert!(elsewhere.join("bin/bookctl").exists());
}

#[test]
#[ignore = "builds and installs packages"]
fn installer_says_what_it_replaces_and_what_is_found_before_it() {
    let Some((site, home)) = served() else { return };
    let from = ["--from", site.base_url()];
    place(&home.folder().join(".local/bin/bookctl"), "bookctl 0.0.1");
    let other = home.folder().join("on-path/bin/bookctl");
    place(&other, "bookctl 0.0.2");
    install(&home, &from, &[], &[])
        .exits(0)
        .prints("/.local/bin/bookctl, in place of bookctl 0.0.1\n")
        .prints(format!("Your shell finds another bookctl first: {}\n", other.display()));
    for prefix in ["on-path", "on-path/", "./on-path"] {
        place(&other, "bookctl 0.0.2");
        let elsewhere = [&from[..], &["--prefix", prefix]].concat();
        let output = install(&home, &elsewhere, &[], &[]).exits(0);
        let output = output.prints(format!("as {}, in place of bookctl 0.0.2\n", other.display()));
        for unsaid in ["PATH", "finds another"] {
            assert!(!output.stdout.contains(unsaid), "{output}");
        }
    }
}

#[test]
#[ignore = "builds and installs packages"]
fn installer_leaves_folder_alone_that_has_programs_name() {
    let Some((site, home)) = served() else { return };
    let folder = home.folder().join(".local/bin/bookctl");
    fs::create_dir_all(&folder).unwrap();
    install(&home, &["--from", site.base_url()], &[], &[])
        .exits(1)
        .says("bookctl is a folder: nothing was installed");
    assert_eq!(below(&folder), [] as [PathBuf; 0]);
}

/// The command in the table of docs/install.md for Linux and macOS.
#[test]
#[ignore = "builds and installs packages"]
fn the_documented_command_downloads_the_installer_and_runs_it() {
    let Some((site, home)) = served() else { return };
    let page = fs::read_to_string(root().join("docs/install.md")).unwrap();
    let row = page.lines().find(|line| line.starts_with("| Linux"));
    let line = row.unwrap().split('`').nth(1).unwrap();
    assert!(line.contains(" https://example.com/bookctl/"), "{line}");
    let line = line.replace("https://example.com/bookctl", site.base_url());
    let mut command = shell(&home, &[], &[]);
    command.args(["-c", &line]);
    Running::start(command).ends(0);
    assert!(home.folder().join(".local/bin/bookctl").exists());
}

#[test]
#[ignore = "builds and installs packages"]
fn the_installer_asks_for_a_folder_where_there_is_no_home() {
    let Some((site, home)) = served() else { return };
    let run = |prefix: &[&str]| {
        let mut command = shell(&home, &[], &[]);
        command
            .arg(root().join("packaging/install.sh"))
            .args(["--from", site.base_url()])
            .args(prefix)
            .env_remove("HOME");
        Running::start(command).end()
    };
    run(&[]).exits(1).says("HOME is not set").says("--prefix DIR");
    run(&["--prefix", "here"]).exits(0);
    assert!(home.folder().join("here/bin/bookctl").exists());
}

/// What runs already stays as it is if the new program does not run, or there is no room for its
/// manual.
#[test]
#[ignore = "builds and installs packages"]
fn failed_installer_leaves_the_old_program_alone() {
    let release = tempfile::tempdir().unwrap();
    let archive = archive(LINUX);
    let unpacked = release.path().join(&archive);
    place(&unpacked.join("man/bookctl.1"), "");
    let home = Home::new();
    let old = home.folder().join(".local/bin/bookctl");
    place(&old, "bookctl 0.0.1");
    for (program, sentence) in [
        ("bookctl 0.1.0; exit 1", "does not run on this system"),
        ("bookctl 0.1.0", "cannot be written"),
    ] {
        place(&unpacked.join("bookctl"), program);
        let packed = format!("tar -czf {archive}.tar.gz {archive} && sha256sum *.gz >SHA256SUMS");
        let mut pack = Command::new("sh");
        pack.args(["-c", &packed]).current_dir(release.path());
        assert!(pack.status().unwrap().success());
        let server = serve(release.path().to_owned());
        install(&home, &["--from", server.base_url()], &[], &[])
            .exits(1)
            .says(sentence)
            .says("nothing was installed");
        assert_eq!(below(old.parent().unwrap()), std::slice::from_ref(&old));
        let kept = fs::read_to_string(&old).unwrap();
        assert!(kept.contains("0.0.1"), "{kept}");
        // The second time, a file stands where the folder of manual pages would be.
        let _ = fs::remove_dir_all(home.folder().join(".local/share"));
        fs::write(home.folder().join(".local/share"), "").unwrap();
    }
}

#[test]
#[ignore = "builds and installs packages"]
fn the_installer_takes_the_archive_of_its_system() {
    let Some((site, home)) = served() else { return };
    let mac = ("uname", "[ \"$1\" = -m ] && echo arm64 || echo Darwin");
    install(&home, &["--from", site.base_url()], &[mac], &[]).exits(0);
    let taken = site.requests().pop().unwrap().path;
    assert_eq!(taken, format!("/{}.tar.gz", archive(MACOS)));
}

#[test]
#[ignore = "builds and installs packages"]
fn the_installer_installs_nothing_that_has_another_checksum() {
    let Some(release) = release() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, mut content) in files(release) {
        if name == format!("{}.tar.gz", archive(LINUX)) {
            content.push(0);
        }
        fs::write(folder.path().join(name), content).unwrap();
    }
    let (server, home) = (serve(folder.path().to_owned()), Home::new());
    let output = install(&home, &["--from", server.base_url()], &[], &[]).exits(1);
    output.tells("the checksum of");
    output.tells("nothing was installed");
    assert!(below(&home.folder().join(".local")).is_empty(), "something was installed");
}

#[test]
#[ignore = "builds and installs packages"]
fn the_installer_says_what_is_missing_and_what_to_do() {
    let Some((site, home)) = served() else { return };
    let from = ["--from", site.base_url()];
    let mips = ("uname", "[ \"$1\" = -m ] && echo mips || echo Linux");
    let bsd = ("uname", "[ \"$1\" = -m ] && echo amd64 || echo FreeBSD");
    let arm = ("uname", "[ \"$1\" = -m ] && echo aarch64 || echo Linux");
    // What a network answers until one has signed in.
    let sign_in = Scripted::start(|_| Reply::html());
    let unread = home.folder().join("tools/cat/below");
    let refused =
        |arguments: &[&str], programs: &[(&str, &str)], leave_out: &[&str], sentence: &str| {
            let output = install(&home, arguments, programs, leave_out).exits(1);
            let mut said = output.stderr.lines();
            let said = said.find(|line| line.starts_with("error: "));
            assert!(said.is_some_and(|line| line.contains(sentence)), "{output}");
            output.tells("\n  hint: ");
            assert!(below(&home.folder().join(".local")).is_empty(), "{output}");
        };
    let with = |flag: &'static str, value| [from[0], from[1], flag, value];
    let (url, downloads) = (site.base_url(), ["curl", "wget"]);
    refused(&from, &[], &downloads, "neither curl nor wget is installed");
    refused(&from, &[], &["sha256sum"], "neither sha256sum nor shasum is installed");
    refused(&from, &[mips], &[], "there is no bookctl for Linux on mips");
    refused(&from, &[bsd], &[], "there is no bookctl for FreeBSD on amd64");
    refused(&from, &[arm], &[], "has no bookctl for Linux on aarch64");
    refused(&[], &[], &[], "there is no address to download from");
    let missing = "SHA256SUMS cannot be downloaded";
    refused(&["--from", &format!("{url}/nowhere")], &[], &[], missing);
    refused(&["--from", "http://127.0.0.1:1"], &[], &[], missing);
    refused(&["--from"], &[], &[], "--from needs a value");
    let no_list = "SHA256SUMS is not a list of checksums";
    refused(&["--from", sign_in.base_url()], &[], &[], no_list);
    refused(&["--frm"], &[], &[], "unknown argument: --frm");
    refused(&with("--prefix", ""), &[], &[], "--prefix needs a value");
    refused(&with("--prefix", unread.to_str().unwrap()), &[], &[], "cannot be written");
}

#[test]
#[ignore = "builds and installs packages"]
fn the_installer_works_with_wget_alone() {
    if !installed("wget") {
        // Not in the list of what tests need: curl is what most systems have.
        return;
    }
    let Some((site, home)) = served() else { return };
    install(&home, &["--from", site.base_url()], &[], &["curl"]).exits(0);
    assert!(home.folder().join(".local/bin/bookctl").exists());
    install(&home, &["--from", "http://127.0.0.1:1"], &[], &["curl"])
        .exits(1)
        .says("SHA256SUMS cannot be downloaded");
}

#[test]
#[ignore = "builds and installs packages"]
fn action_installs_once_and_keys_its_cache_by_checksums() {
    let Some((server, home)) = served() else { return };
    let (output, path) = (home.folder().join("output"), home.folder().join("github-path"));
    let step = |name: &str, variables: &[(&str, String)]| {
        let mut command = home.program("bash");
        command.arg(root().join("packaging/action/install")).arg(name);
        command.env("RUNNER_OS", "Linux").env("RUNNER_ARCH", "X64");
        command.env("RUNNER_TOOL_CACHE", home.folder().join("tools"));
        command.env("GITHUB_OUTPUT", &output).env("GITHUB_PATH", &path);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        Running::start(command).end()
    };
    step("find", &[("FROM", format!("{}/", server.base_url()))]).exits(0);
    let found = fs::read_to_string(&output).unwrap();
    let value = |name: &str| {
        let line = found.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
        line.unwrap().to_owned()
    };
    assert!(value("key").starts_with("bookctl-Linux-X64-"), "{found}");
    let variables = [("FROM", value("from")), ("PREFIX", value("prefix"))];
    step("install", &variables).exits(0).prints("installed bookctl");
    assert_eq!(fs::read_to_string(&path).unwrap().trim(), value("bin"));
    assert!(Path::new(&value("bin")).join("bookctl").exists());
    let again = step("install", &variables).exits(0);
    assert!(!again.stdout.contains("downloading"), "{again}");
}
