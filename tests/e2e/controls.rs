//! `sandbox …`: the controls of the sandbox that a profile points to.

use serde_json::{Value, json};

use crate::harness::{Home, Reply, Scripted, Terminal, has, holds, words};

fn document(home: &Home, words: &[&str]) -> Value {
    let command = ["sandbox"].iter().chain(words).chain(&["--json"]);
    home.ok(command).json()
}

/// "gives `CMD` `BOOKCTL_BASE_URL` and `BOOKCTL_API_KEY`, and ends with its exit code" (command
/// line, Sandbox)
#[test]
fn run_gives_a_command_a_fresh_sandbox_and_ends_as_it_does() {
    let home = Home::new().with("BOOKCTL_PROFILE", "elsewhere");
    let home = home.configured("[profiles.elsewhere]\nbase_url = 'https://api.example'\n");
    for code in [0, 7, 130] {
        let script = format!("exit {code}");
        home.run(["sandbox", "run", "--", "sh", "-c", &script]).exits(code);
    }
    let own = env!("CARGO_BIN_EXE_bookctl");
    let script = format!(
        "{own} sandbox bookings --jq '.bookings | length' && {own} api GET /v1/ --jq .sandbox"
    );
    let output = home.ok(["sandbox", "run", "--", "sh", "-c", &script]);
    assert_eq!(output.stdout, "0\ntrue\n", "{output}");
    let script = "echo $BOOKCTL_SANDBOX_VENUE $BOOKCTL_API_KEY; cat";
    let run = words(format!("sandbox run --scenario payment -- sh -c '{script}'"));
    let output = home.feed(run, "its own input").exits(0);
    assert_eq!(output.stdout, "ven_payment sk_live_sandbox\nits own input");
    home.run(["sandbox", "run", "--", "no-such-command-here"]).exits(127);
    home.refuses("sandbox run", 2, "usage");
    let unknown = words("sandbox run --scenario nonsense --json -- true");
    home.run(unknown).refused(2, "usage");
    let killed = ["sandbox", "run", "--", "sh", "-c", "kill -9 $$"];
    home.run(killed).exits(137);
}

/// A script is not asked, as before; `--yes` asks nobody.
#[test]
fn a_reset_asks_on_a_terminal_and_a_no_deletes_nothing() {
    let (home, _) = Home::with_booking("ven_confirms", 0);
    let count = || document(&home, &["bookings"])["bookings"].as_array().unwrap().len();
    let reset = ["sandbox", "reset"];
    let terminal = Terminal::start(&home, &reset);
    terminal
        .accept_last("Delete all bookings, text messages and settings of the sandbox?", 17)
        .says("the sandbox was not reset");
    assert_eq!(count(), 1);
    Terminal::start(&home, &["sandbox", "reset", "--yes"]).ends(0).says("sandbox reset");
    assert_eq!(count(), 0);
    home.booked("ven_confirms", &[], 0);
    home.ok(reset);
    assert_eq!(count(), 0);
}

/// "`PUT` merges; `?organization=other` for another" (wire contract)
#[test]
fn the_organization_is_shown_and_changed_field_by_field() {
    let home = Home::new();
    let before = document(&home, &["organization"]);
    assert_eq!(before["billing"], true);
    let url = "http://127.0.0.1:9/hooks";
    let setting = format!("webhook_url={url}");
    let set =
        ["organization", "-F", &setting, "-F", "search_providers=[]", "-F", "suspended=false"];
    let after = document(&home, &set);
    holds!(after, {"webhook_url": url, "search_providers": []});
    assert_eq!(after["webhook_secret"], before["webhook_secret"]);
    assert_eq!(document(&home, &["organization"]), after);

    let other = home.json("sandbox organization --organization other -F billing=false");
    assert_eq!(other["billing"], false);
    assert_eq!(document(&home, &["organization"])["billing"], true);
    for wrong in ["billing=maybe", "nonsense=1", "webhook_secret=two words"] {
        let command = ["sandbox", "organization", "-F", wrong, "--json"];
        home.run(command).exits(12).error();
    }
    let nobody = words("sandbox organization --organization nobody --json");
    home.run(nobody).exits(6).error();
}

#[test]
fn faults_are_added_listed_met_and_cleared() {
    let home = Home::new();
    home.fault("GET /v1/", "status", 2);
    home.ok(["sandbox", "faults"]).prints("GET /v1/\tstatus\t2");
    home.refuses("api GET /v1/", 14, "http_500");
    home.ok(["sandbox", "faults", "clear"]);
    assert_eq!(document(&home, &["faults"]), json!({"faults": []}));
    home.ok(["status"]);
    let add = "sandbox faults add --kind delay --on";
    home.refuses(&format!("{add} 'GET /v1/' --delay soon"), 2, "usage");
    let error = home.refuses(&format!("{add} nonsense --delay 1s"), 2, "usage");
    has(&error, "message", "--on must be `any`");
}

/// "`bookctl sandbox …` acts on the sandbox that the profile points to (3 where it is none)"
/// (command line)
#[test]
fn a_service_that_is_no_sandbox_has_no_controls() {
    let (server, home) = Scripted::with_home(|request| match request.path.as_str() {
        "/v1/" => {
            Reply::json(200, &json!({"object": "api", "name": "The service", "version": "v1"}))
        }
        _ => Reply::json(404, &json!({"error": "not found"})),
    });
    for words in [
        &["keys"][..],
        &["bookings"],
        &["organization", "-F", "billing=false"],
        &["faults", "clear"],
        &["deliveries"],
        &["inbox"],
        &["clock"],
        &["reset"],
    ] {
        let command = ["sandbox"].iter().chain(words).chain(&["--json"]);
        home.run(command).refused(3, "config");
    }
    let touched = server.requests();
    assert!(touched.iter().all(|request| request.method == "GET"), "{touched:?}");
}
