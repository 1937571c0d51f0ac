//! HAR files: those that are there already, and what is in them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::full_disk::Disk;
use crate::harness::http::KEY;
use crate::harness::{Home, Served, has, text, words};

/// The requests in a file, which must be whole.
fn entries(file: &Path) -> Vec<Value> {
    let har: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    har["log"]["entries"].as_array().unwrap().clone()
}

/// A home, and a place for a file in it.
fn place(name: &str) -> (Home, PathBuf, String) {
    let home = Home::new();
    let file = home.folder().join(name);
    let name = file.to_str().unwrap().to_owned();
    (home, file, name)
}

/// What the commands that write a HAR file say of one that they do not take.
fn refused(home: &Home, name: &str, why: &str) {
    for command in ["serve --port 0 --ephemeral --json", "run --json"] {
        let end = if command.starts_with("run") { "-- true" } else { "" };
        let line = format!("sandbox {command} --har '{name}' {end}");
        let error = home.run(words(line)).refused(1, "io");
        has(&error, "message", why);
        has(&error, "hint", "--har");
    }
}

/// "`--har FILE` on `sandbox serve` and `sandbox run` writes every exchange as HAR 1.2" (sandbox
/// tools, Requests)
#[test]
fn a_har_file_is_complete_at_every_moment() {
    let (home, file, name) = place("log.har");
    let served = Served::with(&home, &["--ephemeral", "--har", &name]);
    assert_eq!(entries(&file), Vec::<Value>::new());
    let ask = |method, path| served.send(method, path, &[KEY], "{}");
    ask("POST", "/v1/bookings");
    ask("GET", "/v1/sessions?end_user=a%20b");
    served.bookings();
    // Killed without a chance to finish.
    drop(served);
    let entries = entries(&file);
    let [first, second] = &entries[..] else {
        panic!("{entries:?}");
    };
    let har: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(har["log"]["pages"][0]["id"], first["pageref"]);
    assert!(text(first, "_id").starts_with("req_"));
    assert_eq!(first["request"]["postData"]["text"], "{}");
    assert_eq!(first["response"]["status"], 400);
    assert!(text(first, "comment").contains("venue_id is required"));
    let pairs = json!([{"name": "end_user", "value": "a b"}]);
    assert_eq!(second["request"]["queryString"], pairs);
    assert!(text(&second["request"], "url").ends_with("/v1/sessions?end_user=a%20b"));
    for part in words("startedDateTime time request response cache timings") {
        assert!(entries.iter().all(|it| it.get(&part).is_some()), "{part}");
    }
    let whole = fs::read_to_string(&file).unwrap();
    assert!(whole.contains(r#""version":"1.2""#) && !whole.contains("sk_live_sandbox"));
}

#[test]
fn har_file_that_another_sandbox_is_writing_is_refused() {
    let (home, file, name) = place("two.har");
    let first = Served::with(&home, &["--ephemeral", "--har", &name]);
    first.send("GET", "/v1/", &[KEY], "");
    refused(&home, &name, "it is being written to already");
    first.send("GET", "/v1/", &[KEY], "");
    assert_eq!(entries(&file).len(), 2);
    drop(first);
    let run = ["sandbox", "run", "--har", &name, "--", "true"];
    home.ok(run);
}

#[test]
fn next_run_takes_place_of_har_file_of_one_that_was_killed() {
    let (home, file, name) = place("log.har");
    for _ in 0..2 {
        let served = Served::with(&home, &["--ephemeral", "--har", &name]);
        assert_eq!(entries(&file), Vec::<Value>::new());
        served.send("GET", "/v1/", &[KEY], "");
        // Killed without a chance to finish.
        drop(served);
        assert_eq!(entries(&file).len(), 1);
    }
}

#[test]
fn file_no_har_file_of_bookctl_is_refused_and_left_as_it_is() {
    let (home, file, name) = place("precious.json");
    let browsers = r#"{"log":{"version":"1.2","creator":{"name":"Firefox"},"entries":[]}}"#;
    for content in [r#"{"precious":1}"#, browsers, "x"] {
        fs::write(&file, content).unwrap();
        refused(&home, &name, "bookctl did not write it");
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
    }
    let folder = home.folder().to_str().unwrap().to_owned();
    home.run(["sandbox", "run", "--har", &folder, "--", "true"]).exits(1);
}

#[test]
fn a_comment_marks_a_body_that_is_cut() {
    let (home, file, name) = place("log.har");
    let served = Served::with(&home, &["--ephemeral", "--har", &name]);
    let large = json!({"venue_id": "x".repeat(900_000)}).to_string();
    served.send("POST", "/v1/bookings", &[KEY], &large);
    let entry = entries(&file).remove(0);
    let request = &entry["request"];
    assert_eq!(request["bodySize"], large.len(), "{request}");
    let sent = &request["postData"];
    assert_eq!(text(sent, "text").len(), 64 * 1024);
    has(sent, "comment", "first 64 KB");
    assert_eq!(entry["response"]["content"]["comment"], "", "{entry}");
}

#[test]
fn a_sandbox_without_a_request_log_writes_whole_entries_too() {
    let (home, file, name) = place("log.har");
    let served = Served::with(&home, &["--ephemeral", "--no-request-log", "--har", &name]);
    let body = json!({"venue_id": "ven_confirms"}).to_string();
    served.send("POST", "/v1/bookings", &[KEY], &body);
    let sent = &entries(&file)[0]["request"]["postData"];
    assert_eq!(text(sent, "text"), body);
}

#[test]
fn on_a_full_disk_a_har_file_stays_whole() {
    let home = Home::new();
    let Some(disk) = Disk::mount(&home) else {
        return;
    };
    let har = home.path().join("log.har");
    let elsewhere = Home::new();
    let name = har.to_str().unwrap();
    let served = Served::with(&elsewhere, &["--ephemeral", "--no-limits", "--har", name]);
    disk.leave(4);
    for _ in 0..30 {
        served.send("GET", "/v1/", &[KEY], "");
        entries(&har);
    }
    assert!(entries(&har).len() < 30);
    let names = fs::read_dir(home.path()).unwrap().count();
    assert_eq!(names, 2, "the file that fills the disk, and the log");
    let log = served.log();
    let warnings: Vec<_> = log.lines().filter(|it| it.starts_with("warning:")).collect();
    let warning = format!("warning: cannot write {name}: no space left on device; ");
    assert_eq!(warnings.len(), 1, "{log}");
    assert!(warnings[0].starts_with(&warning), "{log}");
}

/// "keys masked wherever they stand: each header value by itself, headers and parameters named key,
/// token, secret, auth, cookie or password" (sandbox, Requests)
#[test]
fn secret_is_masked_in_every_header_parameter_and_body_of_log() {
    const SECRET: &str = "real-secret-4711";
    let (home, file, name) = place("masked.har");
    let served = Served::with(&home, &["--ephemeral", "--har", &name]);
    let bearer = format!("Bearer  {SECRET}");
    let cookie = format!("session={SECRET}; theme=dark");
    let referer = format!("https://app.example/?api_key={SECRET}");
    type Headers<'a> = &'a [(&'a str, &'a str)];
    #[rustfmt::skip]
    let cases: [(Headers, String, String); 7] = [
        (&[("X-Api-Key", SECRET)], String::new(), String::new()),
        (&[("X-Auth-Token", SECRET), KEY], String::new(), String::new()),
        (&[("Authorization", &bearer), ("Authorization", "Bearer b")], String::new(), String::new()),
        (&[("Cookie", &cookie), KEY], String::new(), String::new()),
        (&[("Referer", &referer), KEY], String::new(), String::new()),
        (&[KEY], format!("?access_token={SECRET}&x=1"), String::new()),
        (&[KEY], String::new(), format!("{{\"password\": \"{SECRET}\", \"note\": \"{SECRET}\"}}")),
    ];
    for (headers, query, body) in &cases {
        let path = format!("/v1/venues/search{query}");
        served.send("POST", &path, headers, body);
    }
    served.send("GET", "/v1/bookings/sk_live_sandbox", &[KEY], "");
    let list = served.send("GET", "/sandbox/requests", &[], "").1;
    assert!(!list.to_string().contains("sk_live_sandbox"), "{list}");
    let ids = list["requests"].as_array().unwrap();
    assert_eq!(ids.len(), cases.len() + 1);
    for id in ids {
        let path = format!("/sandbox/requests/{}", text(id, "id"));
        let shown = served.send("GET", &path, &[], "").1.to_string();
        assert!(!shown.contains(SECRET), "{shown}");
        assert!(shown.contains('…'), "{shown}");
    }
    assert!(!list.to_string().contains(SECRET));
    assert!(!fs::read_to_string(&file).unwrap().contains(SECRET));
}
