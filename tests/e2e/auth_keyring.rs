//! The keyring of the operating system: a real one, one that is not there, and one that never
//! answers.

use std::os::unix::net::UnixListener;
use std::process::Stdio;
use std::time::Instant;

use crate::harness::{
    Home, Output, Running, SOON, Served, has, holds, installed, skipped, text, words,
};

const KEY: &str = "sk_live_sandbox";

/// Starts an unlocked keyring on a bus of its own, and does there what `$1` says.
const SESSION: &str = r#"
printf pw | gnome-keyring-daemon --unlock --foreground --components=secrets >/dev/null 2>&1 &
keyring=$!
until dbus-send --session --print-reply --dest=org.freedesktop.DBus / \
    org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets | grep -q true; do sleep 0.02; done
set -e
trap 'kill $keyring' EXIT
eval "$1"
"#;

/// Runs a script on a bus with an unlocked keyring; `None`, said in the log, where that is not to
/// be had here.
fn with_keyring(home: &Home, served: &Served, script: &str) -> Option<Output> {
    let needed = ["dbus-run-session", "dbus-send", "gnome-keyring-daemon", "secret-tool"];
    if let Some(missing) = needed.into_iter().find(|program| !installed(program)) {
        skipped(&format!("{missing} is not installed"));
        return None;
    }
    let mut session = home.program("dbus-run-session");
    session
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .env("XDG_RUNTIME_DIR", home.folder())
        .env("URL", served.base_url())
        .env("BOOKCTL", env!("CARGO_BIN_EXE_bookctl"))
        .args(["--", "bash", "-c", SESSION, "bash", script])
        .stdin(Stdio::null());
    Some(Running::start(session).ends(0))
}

/// "secrets in the OS keyring"; "it reads back what it stored" (command line)
#[test]
fn real_keyring_keeps_what_login_stores() {
    let served = Served::start();
    let home = Home::new();
    let script = r#"
        account="service bookctl username t@$URL"
        bookctl() { "$BOOKCTL" "$@"; }
        source() { bookctl auth status --profile t --jq '.profiles[0] | "\(.source) \(.kind)"'; }
        printf 'sk_live_sandbox\nwhsec_0123456789\n' |
            bookctl auth login --profile t --base-url "$URL" --key-stdin --webhook-secret-stdin -q >/dev/null
        echo "kept: $(secret-tool lookup $account)"
        echo "webhook: $(secret-tool lookup service bookctl-webhook username "t@$URL")"
        echo "from: $(source)"
        bookctl status --profile t --jq '"used: \(.sandbox)"'
        printf sk_test_sandbox | secret-tool store --label=other $account
        echo "then: $(source)"
        printf sk_live_sandbox | bookctl auth login --profile t --key-stdin --storage file -q >/dev/null
        echo "moved: $(source) $(secret-tool lookup $account)."
        printf sk_live_sandbox | bookctl auth login --profile t --key-stdin -q >/dev/null
        echo "back: $(source) $(grep -c api_key "$BOOKCTL_HOME/secrets.toml")"
        bookctl auth logout --profile t -q >/dev/null
        echo "gone: $(secret-tool lookup $account; secret-tool lookup service bookctl-webhook username "t@$URL")."
    "#;
    let Some(output) = with_keyring(&home, &served, script) else {
        return;
    };
    assert_eq!(
        output.stdout.lines().collect::<Vec<_>>(),
        [
            "kept: sk_live_sandbox",
            "webhook: whsec_0123456789",
            "from: keyring live",
            "used: true",
            "then: keyring test",
            "moved: file live .",
            "back: keyring live 0",
            "gone: .",
        ],
        "{output}"
    );
}

/// A keyring that would have to be unlocked, with nobody who is asked for the password, and with
/// somebody who does not come: "Where no keyring answers within 3 s, `auth login` says so (3) and
/// names the ways out" (command line)
#[test]
fn a_locked_keyring_ends_a_login_in_seconds_with_the_ways_out() {
    let served = Served::start();
    let home = Home::new();
    let script = r#"
        login() {
            begun=$(date +%s%N)
            code=0
            printf sk_live_sandbox | "$BOOKCTL" auth login --profile t --base-url "$URL" --key-stdin --json \
                2>error || code=$?
            took=$(( ($(date +%s%N) - begun) / 1000000 ))
            echo "$1: $code $([ $took -lt 5000 ] && echo soon || echo "after $took ms")"
            grep -o '"code":"[a-z]*"\|BOOKCTL_API_KEY\|--storage file' error
        }
        lock() {
            dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets \
                org.freedesktop.Secret.Service.Lock \
                array:objpath:/org/freedesktop/secrets/collection/login >/dev/null
        }
        # The collection is there once something is kept in it.
        printf x | secret-tool store --label=first service other username other
        lock
        login nobody
        services="$HOME/.local/share/dbus-1/services"
        mkdir -p "$services"
        printf '[D-BUS Service]\nName=org.gnome.keyring.SystemPrompter\nExec=/bin/sleep 20\n' \
            >"$services/org.gnome.keyring.SystemPrompter.service"
        dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ReloadConfig >/dev/null
        login late
        [ -e "$BOOKCTL_HOME" ] && ls "$BOOKCTL_HOME" || echo "nothing is left behind"
    "#;
    let Some(output) = with_keyring(&home, &served, script) else {
        return;
    };
    let ways_out = ["\"code\":\"keyring\"", "BOOKCTL_API_KEY", "--storage file"];
    let expected = [
        &["nobody: 3 soon"][..],
        &ways_out,
        &["late: 3 soon"],
        &ways_out,
        &["nothing is left behind"],
    ];
    let lines: Vec<_> = output.stdout.lines().collect();
    assert_eq!(lines, expected.concat(), "{output}");
}

fn login(home: &Home, base_url: &str) -> serde_json::Value {
    let arguments =
        words(format!("auth login --profile t --base-url '{base_url}' --key-stdin --json"));
    home.feed(&arguments, KEY).refused(3, "keyring")
}

/// "Where no keyring answers within 3 s, `auth login` says so (3) and names the ways out" (command
/// line)
#[test]
fn without_a_bus_a_login_says_so_at_once_and_names_the_ways_out() {
    let served = Served::start();
    let home = Home::new();
    let begun = Instant::now();
    let error = login(&home, served.base_url());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    let hint = text(&error, "hint");
    assert!(hint.contains("BOOKCTL_API_KEY"), "{error}");
    assert!(hint.contains("--storage file"), "{error}");
    assert!(!home.path().exists());
}

/// A bus that takes connections and says nothing.
#[test]
fn bus_that_never_answers_is_waited_for_three_seconds() {
    let served = Served::start();
    let home = Home::new();
    let socket = home.folder().join("bus");
    let _silent = UnixListener::bind(&socket).unwrap();
    let home = home.with("DBUS_SESSION_BUS_ADDRESS", &format!("unix:path={}", socket.display()));
    let within_four_seconds = |what: &dyn Fn()| {
        let begun = Instant::now();
        what();
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    };
    within_four_seconds(&|| {
        login(&home, served.base_url());
    });
    within_four_seconds(&|| {
        let doctor = home.json("doctor");
        let keyring = &doctor["checks"][1];
        holds!(keyring, {"name": "keyring", "state": "ok"});
        has(keyring, "detail", "not needed (the keyring did not respond");
    });
    home.ok(["profile", "add", "t", "--base-url", served.base_url()]);
    within_four_seconds(&|| {
        let error = home.refuses("status --profile t", 4, "no_key");
        has(&error, "message", "did not respond within 3 s");
    });

    // The embedded sandbox and a key of the environment ask no keyring.
    let begun = Instant::now();
    home.book("ven_confirms", &["--profile", "sandbox"]).exits(0);
    let home = home.with("BOOKCTL_API_KEY", KEY);
    home.ok(["status", "--profile", "t"]);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}
