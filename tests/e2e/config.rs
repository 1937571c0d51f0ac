//! Which service is meant, and with which key: flag, environment, file.

use std::net::TcpListener;
use std::process::Command;
use std::time::Instant;

use serde_json::json;

use crate::harness::{
    Home, Reply, Running, SOON, Scripted, Served, for_guest, free_port, has, holds, skipped, text,
    words,
};

/// "A key in the environment with neither a base URL nor a profile named is refused (3), so that a
/// script that lost its configuration never books in the sandbox by mistake" (command line, Command
/// tree)
#[test]
fn a_key_alone_is_refused_and_never_books_in_the_sandbox() {
    let home = Home::new().with("BOOKCTL_API_KEY", "sk_live_x");
    home.book("ven_confirms", &[]).refused(3, "config");
    assert!(!home.path().join("sandbox.db").exists());
}

/// "`--profile NAME`, `BOOKCTL_PROFILE` or `bookctl profile use` changes that." (command line,
/// Command tree)
#[test]
fn a_key_goes_to_the_profile_that_was_chosen_as_the_default_one() {
    let served = Served::start();
    let home = Home::new().with("BOOKCTL_API_KEY", "sk_live_sandbox");
    home.ok(["profile", "add", "staging", "--base-url", served.base_url()]);
    home.book("ven_confirms", &[]).refused(3, "config");
    home.ok(["profile", "use", "staging"]);
    home.book("ven_confirms", &[]).exits(0).says("profile staging");
    assert_eq!(served.bookings().len(), 1);
    home.ok(["profile", "use", "sandbox"]);
    home.book("ven_confirms", &[]).exits(0);
    assert_eq!(served.bookings().len(), 1);
}

/// "Where profiles exist and none is chosen, a command that needs a service ends with 3 and names
/// both ways on" (command line)
#[test]
fn profiles_without_a_choice_are_refused_with_both_ways_on() {
    let served = Served::start();
    let home =
        Home::new().configured(&format!("[profiles.live]\nbase_url = '{}'\n", served.base_url()));
    for command in [
        "show bk_1",
        "cancel bk_1 --yes",
        "search dining --near soho --at 'tomorrow 19:30'",
        "status",
    ] {
        let error = home.refuses(command, 3, "config");
        has(&error, "message", "live");
        has(&error, "hint", "--profile live");
        has(&error, "hint", "--profile sandbox");
    }
    home.book("ven_confirms", &["-q"]).refused(3, "config");
    assert!(served.bookings().is_empty() && !home.path().join("sandbox.db").exists());
    home.run(words("sandbox keys")).exits(0);
    home.book("ven_confirms", &["--profile", "sandbox"]).exits(0);
}

/// "after a write that line stands under `-q` too, unless the sandbox was named … A card and a
/// pipe's rows of a sandbox's booking have `service  sandbox`" (command line)
#[test]
fn a_booking_of_an_unnamed_sandbox_says_so_in_quiet() {
    const LINE: &str = "sandbox: nothing is really booked";
    let named = |home: Home| home.with("BOOKCTL_PROFILE", "sandbox");
    let used = Home::new();
    used.ok(["profile", "use", "sandbox"]);
    for (home, is_named) in [(Home::new(), false), (named(Home::new()), true), (used, true)] {
        for flags in [&["-q"][..], &[]] {
            let arguments =
                ["book", "ven_confirms", "--at", "tomorrow 19:30", "--party", "2", "--name"];
            let name = if flags.is_empty() { "Ada Lovelace" } else { "Grace Hopper" };
            let output = home.run(arguments.iter().chain(&[name]).chain(flags)).exits(0);
            assert_eq!(output.stderr.matches(LINE).count(), usize::from(!is_named), "{output}");
            assert!(output.stdout.contains("service\tsandbox\n"), "{output}");
            let show = home.run(["show", "@last", "-q"]).exits(0);
            assert!(
                !show.stderr.contains(LINE) && show.stdout.contains("service\tsandbox\n"),
                "{show}"
            );
        }
    }
    let served = Served::start();
    served.home().ok(for_guest("ven_confirms")).prints("service\tsandbox\n");
}

/// "`BOOKCTL_HOME` (… absolute, or 3)" (command line, Environment)
#[test]
fn a_home_that_is_not_absolute_is_refused() {
    for (name, value) in
        [("BOOKCTL_HOME", "state"), ("BOOKCTL_HOME", "~/x"), ("HOME", "home"), ("HOME", "~")]
    {
        let home = Home::new();
        let mut command = home.command(["book", "ven_confirms", "--json"]);
        command.env_remove("BOOKCTL_HOME").env(name, value);
        let error = Running::start(command).end().refused(3, "config");
        has(&error, "message", name);
        has(&error, "message", if value.starts_with('~') { "`~`" } else { value });
        assert_eq!(std::fs::read_dir(home.folder()).unwrap().count(), 0, "{name}={value}");
    }
}

/// As in ssh: who writes it decides where keys are sent.
#[test]
fn settings_that_others_may_write_are_refused_with_the_chmod() {
    use std::os::unix::fs::PermissionsExt;
    let server = Scripted::start(|_| Reply::json(200, &json!({"name": "sink"})));
    let key = ("BOOKCTL_API_KEY", "sk_live_x");
    let home = Home::new().with_profile("live", server.base_url(), "").with(key.0, key.1);
    let file = home.path().join("config.toml");
    let set = |file: &std::path::Path, mode| {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for mode in [0o666, 0o602] {
        set(&file, mode);
        for command in ["status --profile live", "profile list", "show bk_1"] {
            let error = home.refuses(command, 3, "config");
            has(&error, "message", "config.toml");
            has(&error, "hint", "chmod go-w ");
        }
        let report = home.run(["doctor", "--json"]).exits(3).json();
        assert!(text(&report["checks"][0], "fix").contains("chmod"), "{report}");
    }
    assert!(server.requests().is_empty());
    // One's own group alone may.
    set(&file, 0o664);
    home.ok(["profile", "list"]);
    let secrets = home.path().join("secrets.toml");
    std::fs::write(&secrets, "").unwrap();
    set(&secrets, 0o602);
    let home = home.with(key.0, "");
    has(&home.refuses("status --profile live", 3, "config"), "hint", "chmod");
    std::fs::remove_file(&secrets).unwrap();
    std::fs::create_dir(&secrets).unwrap();
    has(&home.refuses("status --profile live", 3, "config"), "message", "not a regular file");
}

/// A library that shows each file of a home as a file system without modes does.
#[cfg(target_os = "linux")]
const WITHOUT_MODES: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
int statx(int folder, const char *path, int flags, unsigned mask, struct statx *found) {
    int (*real)(int, const char *, int, unsigned, struct statx *) = dlsym(RTLD_NEXT, "statx");
    int result = real(folder, path, flags, mask, found);
    if (strstr(path, ".toml")) found->stx_mode |= 0666;
    return result;
}"#;

#[cfg(target_os = "linux")]
#[test]
fn settings_without_modes_are_used_with_a_warning() {
    let home = Home::new().with_profile("live", "http://127.0.0.1:1", "");
    let (source, library) = (home.folder().join("modes.c"), home.folder().join("modes.so"));
    std::fs::write(&source, WITHOUT_MODES).unwrap();
    let mut built = Command::new("cc");
    built.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    if !built.arg("-ldl").status().is_ok_and(|it| it.success()) {
        return skipped("there is no C compiler");
    }
    let home = home.with("LD_PRELOAD", library.to_str().unwrap());
    let warned = home.ok(["profile", "list"]).prints("live").stderr;
    assert!(
        warned.contains("others may write") && warned.contains("keeps no permissions"),
        "{warned}"
    );
    assert!(!home.path().join("config.toml.probe").exists());
}

/// "`BOOKCTL_JOURNAL` (…; set and empty: the local file, also against the profile's)" (command
/// line, Environment)
#[test]
fn empty_journal_variable_is_local_file_against_profile() {
    let served = Served::start();
    let more = "journal = 'postgresql://bookings@127.0.0.1:1/bookctl'\n";
    let home = Home::new().with_profile("live", served.base_url(), more);
    let home = home.with("BOOKCTL_API_KEY", "sk_live_sandbox").with("BOOKCTL_PROFILE", "live");
    home.book("ven_confirms", &[]).refused(3, "journal");
    let home = home.with("BOOKCTL_JOURNAL", "");
    home.book("ven_confirms", &[]).exits(0);
    assert_eq!(served.bookings().len(), 1);
    assert_eq!(home.json("journal status")["kind"], "file");
}

/// What is all on this machine works where a service is refused, or none is named.
#[test]
fn what_needs_no_service_works_without_one() {
    let locked = Home::new().with("BOOKCTL_NO_SANDBOX", "1");
    let keyed = Home::new().with("BOOKCTL_API_KEY", "sk_live_0123456789abcdef");
    for home in [&locked, &keyed] {
        home.ok(["explain", "429", "--json"]);
        let status = home.json("auth status");
        let row = &status["profiles"][0];
        assert!(row["profile"].is_null(), "{status}");
        assert!(row["detail"].is_string(), "{status}");
    }
    let status = keyed.json("auth status");
    holds!(status["profiles"][0], {"source": "environment", "key": "sk_live_…cdef"});

    let wrong = Home::new().configured("default_profile = 'gone'");
    wrong.ok(["explain", "429"]);
    wrong.refuses("auth status", 3, "config");
}

/// `sandbox run` has a sandbox of its own, and `sandbox keys` needs none of ours.
#[test]
fn a_key_for_nobody_is_no_reason_to_refuse_a_sandbox_of_its_own() {
    let show = words("sandbox run --quiet -- sh -c 'echo $BOOKCTL_API_KEY'");
    let keyed = Home::new().with("BOOKCTL_API_KEY", "sk_live_0123456789abcdef");
    assert_eq!(keyed.ok(&show).stdout, "sk_live_sandbox\n");
    keyed.ok(["sandbox", "keys"]);
    keyed.refuses("sandbox bookings", 3, "config");
    let locked = keyed.with("BOOKCTL_NO_SANDBOX", "1");
    locked.run(&show).exits(3);
    locked.refuses("sandbox keys", 3, "config");
}

/// "`--no-sandbox` and `BOOKCTL_NO_SANDBOX=1` refuse any sandbox (3)" (command line, Command tree)
#[test]
fn no_sandbox_refuses_the_embedded_one_and_a_served_one() {
    let served = Served::start();
    let (embedded, there) = (Home::new(), served.home());
    for home in [&embedded, &there] {
        let booked = home.book("ven_confirms", &["--no-sandbox"]);
        booked.refused(3, "config");
    }
    let home = there.with("BOOKCTL_NO_SANDBOX", "1");
    home.book("ven_confirms", &[]).refused(3, "config");
    assert!(served.bookings().is_empty() && !embedded.path().join("sandbox.db").exists());
}

#[test]
fn address_where_nothing_listens_is_said_within_three_seconds() {
    let nowhere = format!("http://127.0.0.1:{}", free_port());
    let home = Home::pointing_to(&nowhere, "sk_live_x");
    let begun = Instant::now();
    let error = home.book("ven_confirms", &[]).refused(15, "network");
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    has(&error, "message", "refused");
    // A booking request of a known slot needs no look-up before it, and was not sent either.
    let slot = "--slot slot_1 --at 2030-01-01T19:30:00Z --party 2 --name 'Ada Lovelace'";
    home.refuses(&format!("book ven_confirms {slot}"), 15, "network");
    assert!(home.list("attempts").is_empty());
}

#[test]
fn an_unknown_profile_is_refused_and_the_known_ones_are_named() {
    let home = Home::new().configured("[profiles.staging]\nbase_url = 'https://staging.example'\n");
    let error = home.refuses("show bk_1 --profile nope", 3, "config");
    has(&error, "hint", "staging");
    let home = home.with("BOOKCTL_PROFILE", "neither");
    home.refuses("show bk_1", 3, "config");
}

#[test]
fn a_config_file_that_cannot_be_read_is_refused_with_its_line() {
    #[rustfmt::skip]
    let cases = [
        ("[profiles.x]\nbase_url = 'https://a.example'\nbase_uri = 1\n", "line 3"),
        ("default_profile = 'x'\n[profiles.x\n", "line 2"),
        ("[profiles.x]\nbase_url = 'https://a.example'\n[profiles.x.dialect]\notp_feild = 'pin'\n", "line 4"),
        ("[profiles.x]\nread_only = 'maybe'\nbase_url = ''\n", "line 2"),
        ("retention = 30\n", "line 1: the value must be text in quotes, not integer `30`"),
    ];
    for (config, line) in cases {
        let home = Home::new().configured(config);
        let error = home.book("ven_confirms", &[]).refused(3, "config");
        has(&error, "message", line);
        has(&error, "message", "config.toml");
    }
}

/// "A flag (`--profile` too) beats the environment, the environment the config file." (command
/// line)
#[test]
fn flag_beats_environment_and_environment_beats_file() {
    let answers = |name: &'static str| {
        Scripted::start(move |_| Reply::json(404, &json!({"error": name, "open_bookings": []})))
    };
    let (file, environment, flag) = (answers("file"), answers("environment"), answers("flag"));
    let home = Home::new().with_profile(
        "file",
        file.base_url(),
        &format!("[profiles.flag]\nbase_url = '{}'\n", flag.base_url()),
    );
    let show = ["show", "bk_1", "--json"];
    home.run(show).refused(4, "no_key");
    let home = home.with("BOOKCTL_API_KEY", "sk_live_x").with("BOOKCTL_PROFILE", "file");
    assert_eq!(home.run(show).exits(6).error()["body"]["error"], "file");
    let home = home.with("BOOKCTL_BASE_URL", environment.base_url());
    assert_eq!(home.run(show).exits(6).error()["body"]["error"], "environment");
    // The key was given for the address beside it, so it does not travel to the flag's.
    home.refuses("show bk_1 --profile flag", 4, "no_key");
    assert!(flag.requests().is_empty());
}

/// "An API key never travels to another origin than the one it was stored or given for" (command
/// line)
#[test]
fn profile_named_sandbox_is_embedded_one() {
    let (server, home) = Scripted::with_home(|_| Reply::html());
    home.book("ven_confirms", &["--profile", "sandbox"]).exits(0);
    assert!(server.requests().is_empty());
}

/// "The working folder supplies nothing." (command line, Environment)
#[test]
fn the_working_folder_supplies_nothing() {
    let home = Home::new();
    std::fs::write(home.folder().join("config.toml"), "nonsense [").unwrap();
    std::fs::write(home.folder().join(".env"), "BOOKCTL_API_KEY=sk_live_x\n").unwrap();
    home.book("ven_confirms", &[]).exits(0);
}

#[test]
fn a_port_that_is_taken_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let serve = ["sandbox", "serve", "--port", &port, "--ephemeral"];
    Home::new().run(serve).exits(1).says(&port);
}

/// A file that is none, or that nobody wrote by hand, is said and not waited for.
#[test]
fn a_config_file_that_is_a_pipe_or_huge_is_refused() {
    for (make, why) in [
        ("mkfifo config.toml", "not a regular file"),
        ("mkdir config.toml", "not a regular file"),
        ("ln -s /dev/zero config.toml", "not a regular file"),
        ("truncate -s 3000000 config.toml", "larger than 1 MB"),
    ] {
        let home = Home::new();
        std::fs::create_dir_all(home.path()).unwrap();
        let made = Command::new("sh").args(["-c", make]).current_dir(home.path()).status();
        assert!(made.unwrap().success());
        #[rustfmt::skip]
        let cases = [
            &["status", "--json"][..],
            &["profile", "add", "x", "--base-url", "https://a.example", "--json"],
        ];
        for arguments in cases {
            let error = home.run(arguments).exits(3).error();
            has(&error, "message", why);
        }
    }
}

/// What others could read or replace is closed to them as soon as something is kept there.
#[test]
fn a_home_that_is_open_to_others_is_closed() {
    use std::os::unix::fs::PermissionsExt;
    let (home, _) = Home::with_booking("ven_confirms", 0);
    let set = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let files = ["journal.db", "sandbox.db"].map(|file| home.path().join(file));
    files.iter().for_each(|file| set(file, 0o666));
    set(&home.path(), 0o777);
    home.booked("ven_confirms", &[], 0);
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(files.each_ref().map(|file| mode(file)), [0o600, 0o600]);
    assert_eq!(mode(&home.path()), 0o700);
    // A folder that a group shares, or that others look into, is its owner's affair.
    set(&home.path(), 0o775);
    home.booked("ven_confirms", &[], 0);
    assert_eq!(mode(&home.path()), 0o775);
}
