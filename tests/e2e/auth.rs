//! Keys: stored, found for their own profile and address alone, and never seen.

use crate::harness::{Home, Key, Output, Served, Terminal, has, holds, text, words};

const KEY: &str = "sk_live_sandbox";

fn login(home: &Home, base_url: &str, more: &[&str], input: &str) -> Output {
    let login = words(format!("auth login --profile t --base-url {base_url} --key-stdin"));
    home.feed(login.iter().map(String::as_str).chain(more.iter().copied()), input)
}

/// A home in which profile `t` points to the sandbox, its key stored in the file.
fn logged_in(served: &Served) -> Home {
    let home = Home::new();
    let output = login(&home, served.base_url(), &["--storage", "file"], KEY).exits(0);
    assert!(!output.stdout.contains(KEY), "{output}");
    assert!(!output.stderr.contains(KEY), "{output}");
    home
}

fn status(home: &Home) -> serde_json::Value {
    let status = home.run(["auth", "status", "--profile", "t", "--json"]);
    let status = status.exits(0).json();
    assert_eq!(status["profiles"].as_array().unwrap().len(), 1, "{status}");
    status["profiles"][0].clone()
}

/// "`--storage file` (0600, by choice, never in silence)" (command line, Environment)
#[test]
fn a_key_in_the_file_is_used_and_its_owners_alone() {
    let served = Served::start();
    let home = logged_in(&served);
    home.book("ven_confirms", &["--profile", "t"]).exits(0);
    assert_eq!(served.bookings().len(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let file = home.path().join("secrets.toml");
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = home.refuses("status --profile t", 3, "config");
        let hint = text(&error, "hint");
        let command = hint.strip_prefix("run: ").unwrap();
        let done = std::process::Command::new("sh").args(["-c", command]).status();
        assert!(done.unwrap().success(), "{command}");
        home.ok(["status", "--profile", "t", "--json"]);
    }
}

/// "kind (live/test/beta …), masked: at most the last 4"
#[test]
fn a_status_says_where_a_key_comes_from_and_shows_its_end_alone() {
    let served = Served::start();
    let home = logged_in(&served);
    let row = status(&home);
    holds!(row, {"source": "file", "kind": "live", "origin": served.base_url()});
    let masked = text(&row, "key");
    assert!(masked.starts_with("sk_live_…"), "{row}");
    assert!(!masked.contains("sandbox"), "{row}");

    let home = home.with("BOOKCTL_API_KEY", "sk_test_0123456789abcdef");
    let row = status(&home);
    assert_eq!(text(&row, "source"), "environment");
    assert_eq!(text(&row, "kind"), "test");
    assert_eq!(text(&row, "key"), "sk_test_…cdef");
}

/// "An API key never travels to another origin than the one it was stored or given for" (command
/// line)
#[test]
fn stored_key_is_not_sent_to_address_that_was_edited_in_later() {
    let served = Served::start();
    let home = logged_in(&served);
    let elsewhere = crate::harness::Scripted::start(|_| crate::harness::Reply::html());
    let path = home.path().join("config.toml");
    let config = std::fs::read_to_string(&path).unwrap();
    let base_url = |url: &str| format!("base_url = \"{url}\"");
    let edited = config.replace(&base_url(served.base_url()), &base_url(elsewhere.base_url()));
    assert_ne!(edited, config);
    std::fs::write(&path, &edited).unwrap();
    let show = ["show", "bk_1", "--profile", "t", "--json"];
    let error = home.run(show).refused(4, "no_key");
    has(&error, "message", served.base_url());
    // Nor where the note of the origin is edited along.
    std::fs::write(&path, config.replace(served.base_url(), elsewhere.base_url())).unwrap();
    home.run(show).exits(3).error();
    // Nor to an address of the environment that goes before the profile's.
    std::fs::write(&path, &config).unwrap();
    let home = home.with("BOOKCTL_PROFILE", "t").with("BOOKCTL_BASE_URL", elsewhere.base_url());
    home.refuses("show bk_1", 4, "no_key");
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn a_logout_leaves_nothing_of_the_secrets() {
    let served = Served::start();
    let home = Home::new();
    let both = ["--webhook-secret-stdin", "--storage", "file"];
    login(&home, served.base_url(), &both, &format!("{KEY}\nwhsec_0123456789\n")).exits(0);
    assert_eq!(status(&home)["webhook_secret"], "file");
    assert!(home.files_hold("", KEY) && home.files_hold("", "whsec_0123456789"));
    let logout = ["auth", "logout", "--profile", "t"];
    home.ok(logout).says("removed the stored API key and webhook secret of profile t");
    home.ok(logout).says("nothing was stored for profile t");
    let left = home.json("auth logout --profile t");
    holds!(left["profiles"][0], {"name": "t", "current": true, "source": "none"});
    assert!(!home.files_hold("", KEY) && !home.files_hold("", "whsec_0123456789"));
    home.refuses("status --profile t", 4, "no_key");
    // The first service that is logged in to is the one that commands use.
    assert_eq!(home.json("profile show")["current"], true);
    home.ok(["profile", "use", "sandbox"]);
    home.refuses("auth logout", 3, "config");
}

#[test]
fn a_removed_profile_takes_its_key_with_it() {
    let served = Served::start();
    let home = logged_in(&served);
    home.ok(["profile", "remove", "t", "--yes"]);
    assert!(!home.files_hold("", KEY));
}

#[test]
fn a_webhook_secret_is_added_to_a_key_that_is_there() {
    let served = Served::start();
    let home = logged_in(&served);
    let add = words("auth login --profile t --webhook-secret-stdin --storage file");
    home.feed(&add, "whsec_0123456789\n").exits(0);
    let row = status(&home);
    holds!(row, {"source": "file", "webhook_secret": "file"});
    let home = home.with("BOOKCTL_WEBHOOK_SECRET", "whsec_other");
    assert_eq!(status(&home)["webhook_secret"], "environment");
}

/// "it … tries them with `GET /v1/`, and stores them" (command line, Command tree)
#[test]
fn a_key_that_the_service_refuses_is_not_stored() {
    let served = Served::start();
    let home = Home::new();
    for (key, code) in
        [("sk_live_nobody", "unauthorized"), ("sk_v3_sandbox", "wrong_key_environment")]
    {
        let more = ["--storage", "file", "--json"];
        let error = login(&home, served.base_url(), &more, key).refused(4, code);
        // The key was entered just now, so the hint is about that one.
        let hint = text(&error, "hint");
        assert!(hint.contains(served.base_url()), "{error}");
        assert!(hint.starts_with("nothing was stored; "), "{error}");
    }
    let more = ["--storage", "file", "--json"];
    let error = login(&home, "http://127.0.0.1:9", &more, KEY).refused(15, "network");
    has(&error, "message", "http://127.0.0.1:9: ");
    assert!(!home.path().exists());
}

/// "a shell script …: never a prompt"; "no flag takes one, nor a webhook secret" (command line)
#[test]
fn off_a_terminal_what_is_missing_is_named_and_nothing_is_asked() {
    let home = Home::new();
    #[rustfmt::skip]
    let cases = [
        (&["auth", "login"][..], "--profile"),
        (&["auth", "login", "--profile", "t", "--storage", "file"], "--base-url"),
        (&["auth", "login", "--profile", "t", "--base-url", "https://a.example", "--storage", "file"], "--key-stdin"),
    ];
    for (arguments, flag) in cases {
        let error = home.run(arguments.iter().chain(&["--json"])).refused(2, "usage");
        has(&error, "hint", flag);
    }
    for input in ["", "\n", "sk_live_a\nsk_live_b\n", "sk live"] {
        login(&home, "https://a.example", &["--storage", "file", "--json"], input)
            .refused(2, "usage");
    }
    for flag in ["--key", "--api-key", "--webhook-secret"] {
        home.run(["auth", "login", flag, KEY]).exits(2);
    }
    let sandbox = words("auth login --profile sandbox --key-stdin --json");
    home.feed(&sandbox, KEY).refused(2, "usage");
}

/// "On a terminal it asks for base URL, profile name and key" (command line, Command tree)
#[test]
fn user_is_asked_for_address_name_and_key_and_key_is_not_shown() {
    let served = Served::start();
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["auth", "login", "--storage", "file"]);
    terminal.answer("? Base URL", "http://api.example.com");
    terminal.see("must use https");
    // What was typed stays on the line to be corrected.
    for _ in 0.."http://api.example.com".len() {
        terminal.type_in("\x7f");
    }
    terminal.type_in(served.base_url()).press(Key::Enter);
    terminal.accept("? Profile name");
    terminal.answer("? API key for", KEY);
    let ended = terminal.ends(0).says("sk_live_…");
    assert!(!ended.raw.contains(KEY), "{}", ended.raw);
    home.book("ven_confirms", &["--profile", "live"]).exits(0);
    assert_eq!(served.bookings().len(), 1);
}

#[test]
fn login_without_keyring_offers_a_file_before_the_key() {
    let served = Served::start();
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["auth", "login"]);
    terminal.answer("? Base URL", served.base_url());
    terminal.accept_last("? Profile name", 3).says("--storage file");
}
