//! Snapshots of a sandbox, the variables that lead to it, and the names that it goes by.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::harness::{Home, Output, Reply, Scripted, Served, text};

fn sandbox(home: &Home, words: &[&str]) -> Output {
    home.run(["sandbox"].iter().chain(words)).exits(0)
}

/// Everything that a sandbox shows of its state.
fn state(home: &Home) -> Vec<Value> {
    [
        &["bookings"][..],
        &["inbox"],
        &["deliveries"],
        &["organization"],
        &["organization", "list"],
        &["faults"],
        &["clock"],
    ]
    .iter()
    .map(|words| {
        let mut shown = sandbox(home, &[words, &["--json"][..]].concat()).json();
        // Real time goes on, and each command may try a delivery.
        let fields = shown.as_object_mut().unwrap();
        fields.remove("offset_seconds");
        fields.remove("next_due_at");
        let deliveries = fields.get_mut("deliveries").and_then(Value::as_array_mut);
        for delivery in deliveries.into_iter().flatten() {
            let fields = delivery.as_object_mut().unwrap();
            fields.remove("next_attempt_at");
            fields.remove("attempts");
        }
        shown
    })
    .collect()
}

/// A home whose embedded sandbox has something of everything, and a clock that stands still two days ahead.
fn lived_in() -> Home {
    let home = Home::new();
    sandbox(&home, &["clock", "--advance", "2d"]);
    sandbox(&home, &["clock", "--freeze"]);
    let url = "webhook_url=http://127.0.0.1:9/hook";
    sandbox(&home, &["organization", "-F", url]);
    sandbox(&home, &["organization", "add", "--name", "kept"]);
    let later = [
        "faults", "add", "--on", "webhook", "--kind", "delay", "--times", "always",
    ];
    sandbox(&home, &later);
    home.booked("ven_confirms", &[], 0);
    home.booked("ven_otp", &[], 10);
    home
}

/// "`save|restore|list|remove NAME`"; "Time never goes back but by `reset` or `restore`" (sandbox tools)
#[test]
fn a_restored_snapshot_is_the_state_that_was_saved_with_its_clock() {
    let home = lived_in();
    sandbox(&home, &["snapshot", "save", "clean"]);
    let before = state(&home);
    home.booked("ven_last_table", &[], 0);
    sandbox(&home, &["clock", "--advance", "1h"]);
    assert_ne!(state(&home), before);
    sandbox(&home, &["snapshot", "restore", "clean"]);
    assert_eq!(state(&home), before);
    // It outlives a reset.
    sandbox(&home, &["reset"]);
    sandbox(&home, &["snapshot", "restore", "clean"]);
    assert_eq!(state(&home), before);
    // What it holds can be gone on with: the code of the booking that waits, and the table that was taken since.
    let id = text(&before[0]["bookings"][1], "id");
    let code = text(&before[1]["messages"][0], "code");
    home.run(["continue", &id, "--otp", &code, "--json"])
        .exits(0);
    home.booked("ven_last_table", &[], 0);
    let listed = sandbox(&home, &["snapshot", "list", "--json"]).json();
    assert_eq!(listed["snapshots"][0]["name"], "clean");
    sandbox(&home, &["snapshot", "remove", "clean"]);
    let gone = ["sandbox", "snapshot", "restore", "clean", "--json"];
    let error = home.run(gone).refused(6, "http_404");
    assert!(
        text(&error, "hint").contains("`bookctl sandbox snapshot list`"),
        "{error}"
    );
    // Without a word more it lists, as the other lists do.
    sandbox(&home, &["snapshot"]);
}

#[test]
fn a_snapshot_in_a_file_is_restored_elsewhere_and_a_bad_one_replaces_nothing() {
    let home = lived_in();
    let file = home.path().join("state.json");
    let file = file.to_str().unwrap();
    sandbox(&home, &["snapshot", "save", "--to", file]);
    #[cfg(unix)]
    {
        let mode = |path: &str| {
            let found = std::fs::metadata(path).unwrap();
            std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777
        };
        assert_eq!(mode(file), 0o600);
    }
    let server = Served::start();
    let other = server.home();
    sandbox(&other, &["snapshot", "restore", "--from", file]);
    // Deliveries go on by themselves where the sandbox is served.
    let [here, there] = [state(&home), state(&other)];
    assert_eq!((&here[0], &here[1]), (&there[0], &there[1]));
    assert_eq!(
        (&here[3..6], &here[6]["now"]),
        (&there[3..6], &there[6]["now"])
    );

    let whole: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut spoiled = Vec::new();
    for (path, value) in [
        ("/bookctl_snapshot", json!(2)),
        ("/tables/0/name", json!("songs")),
        ("/tables/2/columns/0", json!("title")),
        ("/tables/2/rows/0", json!([1])),
        // The status of the second booking, which comes after the deletion of everything.
        ("/tables/2/rows/1/13", json!("lost")),
    ] {
        let mut document = whole.clone();
        *document.pointer_mut(path).unwrap() = value;
        spoiled.push(document.to_string());
    }
    spoiled.push(json!({"bookings": []}).to_string());
    let before = state(&home);
    for content in spoiled {
        std::fs::write(file, &content).unwrap();
        let restore = ["sandbox", "snapshot", "restore", "--from", file, "--json"];
        home.run(restore).refused(12, "http_400");
        assert_eq!(state(&home), before, "{content}");
    }
    // One from before there were fixtures lacks their table, the name of the venue in a booking, and the hash of a key.
    let mut older = whole.clone();
    let tables = older["tables"].as_array_mut().unwrap();
    assert_eq!(tables.pop().unwrap()["name"], "fixture_venues");
    for (table, last) in [(2, "venue_name"), (3, "hash")] {
        let columns = tables[table]["columns"].as_array_mut().unwrap();
        assert_eq!(columns.pop().unwrap(), last);
        for row in tables[table]["rows"].as_array_mut().unwrap() {
            row.as_array_mut().unwrap().pop();
        }
    }
    std::fs::write(file, older.to_string()).unwrap();
    sandbox(&home, &["snapshot", "restore", "--from", file]);
    assert_eq!(state(&home), before);
    std::fs::write(file, "no snapshot").unwrap();
    let restore = ["sandbox", "snapshot", "restore", "--from", file, "--json"];
    home.run(restore).refused(2, "usage");
}

#[test]
fn restores_at_once_end_in_the_state_that_was_saved() {
    let home = lived_in();
    sandbox(&home, &["snapshot", "save", "clean"]);
    let before = state(&home);
    home.booked("ven_last_table", &[], 0);
    let restores: Vec<_> = (0..6)
        .map(|_| home.start(["sandbox", "snapshot", "restore", "clean"]))
        .collect();
    for restore in restores {
        restore.end().exits(0);
    }
    assert_eq!(state(&home), before);
}

#[test]
fn the_variables_of_a_served_sandbox_are_lines_for_the_shell() {
    let server = Served::start();
    let home = server.home();
    // On Windows the lines are for PowerShell unless another shell is named.
    let env: &[&str] = match cfg!(windows) {
        true => &["env", "--shell", "bash"],
        false => &["env"],
    };
    let lines = sandbox(&home, env).stdout;
    let base = server.base_url();
    let expected = format!(
        "export BOOKCTL_BASE_URL={base}\nexport BOOKCTL_API_KEY=sk_live_sandbox\n\
         export BOOKCTL_WEBHOOK_SECRET=whsec_sandbox\n"
    );
    assert_eq!(lines, expected);
    let fish = sandbox(&home, &["env", "--shell", "fish"]).stdout;
    assert!(
        fish.starts_with(&format!("set -gx BOOKCTL_BASE_URL '{base}'\n")),
        "{fish}"
    );
    let added = sandbox(&home, &["organization", "add", "--json"]).json();
    let id = text(&added, "id");
    let variables = sandbox(&home, &["env", "--organization", &id, "--json"]).json();
    assert_eq!(variables["BOOKCTL_API_KEY"], added["keys"]["live"]);
    assert_eq!(variables["BOOKCTL_WEBHOOK_SECRET"], added["webhook_secret"]);
    let json = sandbox(&home, &["env", "--shell", "json"]).json();
    assert_eq!(json["BOOKCTL_BASE_URL"], base);
    let embedded = Home::new();
    embedded
        .run(["sandbox", "env", "--json"])
        .refused(3, "config");
    // One that bookctl is not set up for.
    let named = [&["sandbox"], env, &["--url", base]].concat();
    assert_eq!(embedded.run(&named).exits(0).stdout, expected);
    let app = Scripted::start(|_| Reply::json(404, &json!({"error": "no such page"})));
    let elsewhere = ["sandbox", "env", "--url", app.base_url(), "--json"];
    let error = embedded.run(elsewhere).refused(3, "config");
    assert!(
        text(&error, "message").starts_with("there is no sandbox at"),
        "{error}"
    );
}

#[test]
fn a_server_answers_to_the_names_that_it_was_given_and_to_no_others() {
    let home = Home::new();
    let options = ["--ephemeral", "--host", "host.docker.internal"];
    let server = Served::with(&home, &options);
    let address = server.base_url().strip_prefix("http://").unwrap();
    let port = address.rsplit_once(':').unwrap().1;
    for (name, status) in [("host.docker.internal", "200"), ("evil.example", "403")] {
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!(
            "GET /sandbox/clock HTTP/1.1\r\nHost: {name}:{port}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{answer}"
        );
        assert_eq!(
            answer.contains("sandbox serve --host evil.example`"),
            status == "403"
        );
    }
    for wrong in [
        "http://x.example",
        "x.example:80",
        "a b",
        "",
        "*",
        "*.example",
        "::1",
    ] {
        let serve = [
            "sandbox",
            "serve",
            "--ephemeral",
            "--port",
            "0",
            "--json",
            "--host",
            wrong,
        ];
        let error = home.run(serve).refused(2, "usage");
        assert!(
            text(&error, "message").contains("host.docker.internal"),
            "{wrong}: {error}"
        );
    }
}
