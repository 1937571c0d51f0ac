//! What keeps deliveries: `webhooks.db`, and one listener's place for each service.

use std::fs;

use crate::harness::listening::{
    Listening, event, home_with_the_secret, home_without_a_service, received, until,
};
use crate::harness::{Running, text};

/// "bookctl explain" knows each code that an error carries (command line, Output 4).
#[test]
fn damaged_webhooks_file_has_code_own_and_hint_that_helps() {
    let home = home_without_a_service();
    let list = ["webhook", "events", "list", "--json"];
    let file = home.path().join("webhooks.db");
    fs::create_dir_all(home.path()).unwrap();
    for content in ["no database ".repeat(1_000), String::new()] {
        fs::write(&file, &content).unwrap();
        let error = home.run(list).refused(3, "webhooks");
        let hint = text(&error, "hint");
        let shown = file.display().to_string();
        assert!(hint.contains(&format!("move {shown} and {shown}-wal")), "{hint}");
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
        // The hint, followed.
        fs::rename(&file, home.folder().join("aside.db")).unwrap();
        home.ok(list);
        let body = event("evt_1", "booking.confirmed", "bk_1", "confirmed");
        received(&home, &[body]);
        fs::remove_file(&file).unwrap();
    }
    let explained = home.json("explain webhooks");
    assert_eq!(explained["codes"][0]["exit_code"], 3, "{explained}");
}

#[test]
fn listeners_of_similarly_named_services_run_side_by_side() {
    let home = home_with_the_secret().with("BOOKCTL_BASE_URL", "https://api-x.example");
    let _first = Listening::start(&home, &[]);
    let ready = home.folder().join("second");
    let mut command = home.command(["webhook", "listen", "--json", "--port", "0", "--ready-file"]);
    command.arg(&ready).env("BOOKCTL_BASE_URL", "https://api.x.example");
    let second = Running::start(command);
    until("the second listener is ready", || ready.exists());
    second.signal("-INT");
    second.ends(0);
}
