//! Profiles from the shell: what `bookctl profile` writes is what the other commands read.

use crate::harness::{Home, Served, Terminal, holds, text, words};

const URL: &str = "https://api.example.com";

fn config(home: &Home) -> String {
    std::fs::read_to_string(home.path().join("config.toml")).unwrap_or_default()
}

fn names(home: &Home) -> Vec<String> {
    let rows = home.list("profile list");
    rows.iter().map(|row| text(row, "name")).collect()
}

/// "`--profile NAME`, `BOOKCTL_PROFILE` or `bookctl profile use` changes that." (command line,
/// Command tree)
#[test]
fn profile_is_added_used_and_removed_and_sandbox_is_there_again() {
    let served = Served::start();
    let home = Home::new();
    home.ok(["profile", "add", "local", "--base-url", served.base_url()]);
    assert_eq!(names(&home), ["sandbox", "local"]);
    let shown = home.json("profile show");
    assert_eq!(shown["name"], "sandbox");

    home.ok(["profile", "use", "local"]);
    let shown = home.json("profile show");
    holds!(shown, {"name": "local", "current": true});
    assert_eq!(text(&shown, "base_url"), served.base_url());
    home.refuses("show bk_1", 4, "no_key");
    home.ok(["profile", "use", "sandbox"]);
    home.book("ven_confirms", &[]).exits(0);
    assert!(served.bookings().is_empty());

    home.ok(["profile", "use", "local"]);
    home.refuses("profile remove local", 2, "usage");
    home.ok(["profile", "remove", "local", "--yes"]);
    assert_eq!(names(&home), ["sandbox"]);
    home.book("ven_confirms", &[]).exits(0);
}

#[test]
fn a_person_is_asked_before_a_profile_goes() {
    let home = Home::new().configured(&format!("[profiles.x]\nbase_url = '{URL}'\n"));
    let terminal = Terminal::start(&home, &["profile", "remove", "x"]);
    terminal.accept_last("? Remove profile x?", 17);
    assert_eq!(names(&home), ["sandbox", "x"]);
    let mut terminal = Terminal::start(&home, &["profile", "remove", "x"]);
    terminal.see("? Remove profile x?").type_in("y\r");
    terminal.ends(0);
    assert_eq!(names(&home), ["sandbox"]);
}

#[test]
fn what_cannot_be_a_profile_is_refused_and_nothing_is_written() {
    let home = Home::new();
    for name in ["sandbox", "two words", "caf\u{e9}", ""] {
        home.refuses(&format!("profile add '{name}' --base-url '{URL}'"), 2, "usage");
    }
    for url in ["http://api.example.com", "api.example.com", "https://u:secret@a.example"] {
        let output = home.run(["profile", "add", "x", "--base-url", url, "--json"]);
        assert!(!output.stderr.contains("secret"), "{output}");
        output.refused(3, "config");
    }
    let missing = words(format!("profile add x --base-url '{URL}' ca_file=nowhere.pem --json"));
    home.run(&missing).refused(3, "config");
    for verb in ["use", "show"] {
        home.refuses(&format!("profile {verb} nobody"), 3, "config");
    }
    assert_eq!(config(&home), "");

    let home = home.configured(&format!("# mine\n[profiles.x]\nbase_url = '{URL}' # kept\n"));
    home.refuses(&format!("profile add x --base-url '{URL}'"), 3, "config");
    home.ok(["profile", "use", "x"]);
    assert!(config(&home).contains("# mine\n"), "{}", config(&home));
    assert!(config(&home).contains("# kept\n"), "{}", config(&home));
    let home = home.configured("default_profile = [");
    home.refuses("profile use sandbox", 3, "config");
    assert_eq!(config(&home), "default_profile = [");
}

#[test]
fn a_default_profile_that_is_gone_is_mended_from_the_shell() {
    let home = Home::new().configured("default_profile = 'gone'\n");
    home.book("ven_confirms", &[]).refused(3, "config");
    assert_eq!(names(&home), ["sandbox"]);
    home.ok(["profile", "use", "sandbox"]);
    home.book("ven_confirms", &[]).exits(0);
}

#[test]
fn commands_at_the_same_time_do_not_lose_each_others_profile() {
    let home = Home::new();
    let running: Vec<_> = (0..8)
        .map(|n| home.start(["profile", "add", &format!("p{n}"), "--base-url", URL]))
        .collect();
    for running in running {
        running.ends(0);
    }
    assert_eq!(names(&home).len(), 9);
}

#[cfg(unix)]
#[test]
fn the_config_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.ok(["profile", "add", "x", "--base-url", URL]);
    let file = std::fs::metadata(home.path().join("config.toml")).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
}

#[test]
fn settings_are_changed_from_the_shell_and_comments_are_kept() {
    let home = Home::new().configured(
        "# mine\n[profiles.x]\nbase_url = \"https://a.example\" # there\nkey_origin = \"https://a.example\"\n",
    );
    home.ok(words(
        "profile set x read_only=true local_times=true otp_field=pin \
                 dialect.venues_field=data.results read.booking=.data 'write.otp={otpCode: \
                 .otp}' auth_query=api_key headers.X-Org=7 --json",
    ));
    let shown = home.json("profile show x");
    assert_eq!(shown["read"]["booking"], ".data");
    assert_eq!(shown["write"]["otp"], "{otpCode: .otp}");
    holds!(shown, {"local_times": true, "auth_query": "api_key"});
    assert_eq!(shown["headers"]["X-Org"], "7");
    assert_eq!(shown["dialect"]["venues_field"], "data.results");
    let file = config(&home);
    assert!(file.starts_with("# mine\n"), "{file}");
    assert!(file.contains("# there"), "{file}");

    let unset = "profile unset x read.booking write.otp local_times otp_field auth_query \
             headers.X-Org";
    home.ok(words(format!("{unset} venues_field")));
    let after = config(&home);
    assert!(
        !["dialect", "write", "local_times", "auth_query", "headers"]
            .iter()
            .any(|key| after.contains(key)),
        "{after}"
    );
}

#[test]
fn a_secret_that_was_written_into_the_file_is_not_shown() {
    let home = Home::new().configured(
        "[profiles.x]\nbase_url = 'https://u:sk_live_handy@a.example'\nauth_user = 'sk_live_handy'\n\
         [profiles.x.headers]\nX-Gate = \"Bearer b.hand-27\"\nX-Hook = 'whsec_handy'\n",
    );
    for shown in ["profile show x", "profile show x --json", "profile --json"] {
        let output = home.ok(words(shown));
        assert!(!format!("{output}").contains("hand"), "{output}");
        assert!(output.stdout.contains("https://u:***@a.example"));
    }
}

#[test]
fn setting_that_cannot_be_is_refused_by_name() {
    let home = Home::new()
        .configured(
            "[profiles.x]\nbase_url = \"https://a.example\"\nkey_origin = \"https://a.example\"\n",
        )
        .with("BOOKCTL_API_KEY", "whatever_the_key_is");
    let before = config(&home);
    for (setting, exit, says) in [
        ("read.booking=.data |", 2, "read.booking"),
        ("read.bookings=.", 2, "read.bookings"),
        ("otp_field=", 2, "dialect.otp_field"),
        ("otp_field=pin\n", 2, "control character"),
        ("otp_field=psp_abort", 2, "dialect.otp_field"),
        ("venues_field=..*", 2, "names with dots between them"),
        ("venues_field=data[0].x", 2, "read.KIND"),
        ("read_only=maybe", 2, "read_only"),
        ("base_url=https://b.example", 3, "base_url"),
        ("color=red", 2, "color"),
        ("ca_file=/dev/zero", 3, "not a regular file"),
        ("auth_query=cursor", 3, "bookctl sends that parameter"),
        ("headers.X-Org=sk_live_4eC39HqLyjWD", 3, "bookctl auth login"),
        ("headers.X-Org=whatever_the_key_is", 2, "bookctl auth login"),
    ] {
        home.run(["profile", "set", "x", "local_times=true", setting]).exits(exit).says(says);
        assert_eq!(config(&home), before, "{setting}");
    }
    home.ok(["profile", "set", "x", "base_url=https://a.example/v2"]);
    home.run(["profile", "unset", "x", "base_url"]).exits(2);
    home.run(["profile", "set", "nobody", "read_only=true"]).exits(3);
}
