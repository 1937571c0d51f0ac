//! Files of another user in a home: whoever puts a file there first must not choose what bookctl
//! does.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;

use crate::harness::listening::Listening;
use crate::harness::{Home, Output, Reply, Running, Scripted, skipped, text, words};

/// Another user, who need not have a name.
const SOMEBODY: u32 = 1234;

/// Only root may give files away.
fn may_not_give_files_away() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skipped("only root can make files that another user owns");
    }
    !is_root
}

fn give_away(path: &Path) {
    chown(path, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
}

fn make(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// A service that takes whatever comes.
fn sink() -> Scripted {
    Scripted::start(|_| Reply::json(200, &json!({"name": "sink", "object": "list"})))
}

fn profile(base_url: &str) -> String {
    format!("default_profile = 'p'\n[profiles.p]\nbase_url = '{base_url}'\n")
}

const ADD: &str = "profile add x --base-url https://a.example --json";
const EVENTS: &str = "webhook events list --json";
const BOOKING: &str =
    "book ven_confirms --at 'tomorrow 19:30' --party 2 --name 'Ada Lovelace' --json";

/// Asserts the refusal: what belongs to whom, and what to do.
#[track_caller]
fn is_refused(home: &Home, line: &str, path: &Path) {
    refuses(home.run(words(line)), path);
}

#[track_caller]
fn refuses(output: Output, path: &Path) {
    let error = output.refused(3, "config");
    let message = text(&error, "message");
    let said = format!("{} belongs to user {SOMEBODY}", path.display());
    assert!(message.contains(&said), "{error}");
    let hint = text(&error, "hint");
    assert!(hint.contains("BOOKCTL_HOME"), "{error}");
    assert!(hint.contains("chown"), "{error}");
}

#[test]
#[ignore = "needs root: it mounts a disk, or makes another user's files"]
fn a_key_is_not_sent_where_a_configuration_of_another_user_says() {
    if may_not_give_files_away() {
        return;
    }
    let sink = sink();
    let home = Home::new().with("BOOKCTL_API_KEY", "sk_live_of_the_victim");
    let file = home.path().join("config.toml");
    make(&file, &profile(sink.base_url()));
    fs::set_permissions(home.path(), Permissions::from_mode(0o1777)).unwrap();
    give_away(&file);
    for line in ["status --json", ADD, BOOKING] {
        is_refused(&home, line, &file);
    }
    let report = home.run(["doctor", "--json"]).exits(3).json();
    let fix = text(&report["checks"][0], "fix");
    assert!(fix.contains("BOOKCTL_HOME"), "{report}");
    assert!(sink.requests().is_empty());
}

/// Each file, and a command that reads it.
#[test]
#[ignore = "needs root: it mounts a disk, or makes another user's files"]
fn no_file_of_another_user_in_a_home_is_used() {
    if may_not_give_files_away() {
        return;
    }
    for (name, line) in [
        ("config.toml", "profile list --json"),
        ("config.toml.lock", ADD),
        ("secrets.toml", "status --profile p --json"),
        ("journal.db", BOOKING),
        ("journal.db", "attempts --json"),
        ("journal.db-journal", BOOKING),
        ("sandbox.db", BOOKING),
        ("sandbox.db", "sandbox serve --port 0 --json"),
        ("sandbox.db-wal", BOOKING),
        ("webhooks.db", EVENTS),
        ("webhooks.db-shm", EVENTS),
        ("listener", "webhook listen --port 0 --json"),
    ] {
        let home = Home::new();
        let mut file = home.path().join(name);
        if name == "secrets.toml" {
            let config = profile("https://a.example").replace("default_profile = 'p'\n", "");
            make(&home.path().join("config.toml"), &config);
        }
        if name.starts_with("listener") {
            file = place_of_a_listener(&home);
        }
        if !file.exists() {
            make(&file, "");
        }
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        give_away(&file);
        is_refused(&home, line, &file);
        assert_eq!(fs::metadata(&file).unwrap().uid(), SOMEBODY, "{name}");
    }
}

/// Where the listener for the embedded sandbox takes its place: known once one has been there.
pub(crate) fn place_of_a_listener(home: &Home) -> PathBuf {
    Listening::start(home, &[]).end();
    let files = fs::read_dir(home.path()).unwrap().map(|it| it.unwrap().path());
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut places = files.filter(|path| name(path).starts_with("listener-"));
    places.next().expect("a listener has a place")
}

#[test]
#[ignore = "needs root: it mounts a disk, or makes another user's files"]
fn a_home_that_another_user_owns_is_not_used() {
    if may_not_give_files_away() {
        return;
    }
    for line in ["status --json", BOOKING, "attempts --json"] {
        let home = Home::new();
        fs::create_dir_all(home.path()).unwrap();
        give_away(&home.path());
        is_refused(&home, line, &home.path());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }
}

/// "also where BOOKCTL_HOME is not set": the platform's own folders.
#[test]
#[ignore = "needs root: it mounts a disk, or makes another user's files"]
fn files_of_another_user_in_the_platforms_folders_are_not_used() {
    if may_not_give_files_away() {
        return;
    }
    for (name, line) in [
        (".config/bookctl/config.toml", "status --json"),
        (".local/state/bookctl/journal.db", BOOKING),
        (".local/state/bookctl/webhooks.db", EVENTS),
        (".local/share/bookctl/sandbox.db", BOOKING),
    ] {
        let home = Home::new();
        let start = || {
            let mut command = home.command(words(line));
            command.env_remove("BOOKCTL_HOME");
            Running::start(command).end()
        };
        let file = home.folder().join(name);
        make(&file, "");
        give_away(&file);
        refuses(start(), &file);
        fs::remove_file(&file).unwrap();
        give_away(file.parent().unwrap());
        refuses(start(), file.parent().unwrap());
    }
}

/// Tools that manage dotfiles keep the files elsewhere, and link to them.
#[test]
#[ignore = "needs root: it mounts a disk, or makes another user's files"]
fn configuration_link_of_ones_own_is_read_and_changed() {
    let home = Home::new();
    let (file, link) = (home.folder().join("dotfiles/config"), home.path().join("config.toml"));
    make(&file, "[profiles.p]\nbase_url = 'https://a.example'\n");
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    fs::create_dir_all(home.path()).unwrap();
    symlink("../dotfiles/config", &link).unwrap();
    home.ok(["profile", "list", "--json"]).shows("a.example");
    let add = ["profile", "add", "q", "--base-url", "https://q.example"];
    home.ok(add);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&file).unwrap().contains("q.example"));
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o644);
}

/// A link of another user could lead to any file of the user's own.
#[test]
#[ignore = "needs root: it mounts a disk, or makes another user's files"]
fn a_link_of_another_user_is_not_followed() {
    if may_not_give_files_away() {
        return;
    }
    let home = Home::new();
    let (file, link) = (home.folder().join("own"), home.path().join("config.toml"));
    make(&file, "[profiles.p]\nbase_url = 'https://a.example'\n");
    fs::create_dir_all(home.path()).unwrap();
    symlink(&file, &link).unwrap();
    home.ok(["profile", "list"]);
    lchown(&link, Some(SOMEBODY), None).unwrap();
    is_refused(&home, "profile list --json", &link);
    // The same for a link on the way.
    let between = home.folder().join("between");
    fs::rename(&link, &between).unwrap();
    symlink(&between, &link).unwrap();
    is_refused(&home, "profile list --json", &between);
}

/// ssh trusts root's files as well: a machine's administrator may set up what its users share.
#[test]
#[ignore = "needs root: it mounts a disk, or makes another user's files"]
fn a_configuration_of_root_is_used_by_any_user() {
    if may_not_give_files_away() {
        return;
    }
    let home = Home::new().configured("[profiles.shared]\nbase_url = 'https://a.example'\n");
    for folder in [home.folder(), &home.path()] {
        fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    }
    let file = home.path().join("config.toml");
    fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
    let mut command = home.command(["profile", "list", "--json"]);
    command.uid(SOMEBODY).gid(SOMEBODY);
    let mut probe = home.command(["--version"]);
    probe.uid(SOMEBODY).gid(SOMEBODY).stdout(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        return skipped("another user cannot run the program where it was built");
    }
    Running::start(command).ends(0).shows("shared");
}

#[test]
#[ignore = "needs root: it mounts a disk, or makes another user's files"]
fn what_a_database_is_a_link_to_keeps_its_mode_and_its_content() {
    let content = "this is no database, and everybody reads it\n".repeat(50);
    for (name, line) in [("journal.db", BOOKING), ("sandbox.db", BOOKING), ("webhooks.db", EVENTS)]
    {
        for hard in [false, true] {
            let home = Home::new();
            let (file, link) = (home.folder().join("passwd"), home.path().join(name));
            make(&file, &content);
            fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
            fs::create_dir_all(home.path()).unwrap();
            if hard {
                fs::hard_link(&file, &link).unwrap();
            } else {
                symlink(&file, &link).unwrap();
            }
            home.run(words(line)).exits(3);
            let mode = fs::metadata(&file).unwrap().mode() & 0o777;
            assert_eq!(mode, 0o644, "{name}, hard: {hard}");
            assert_eq!(fs::read_to_string(&file).unwrap(), content);
        }
    }
}
