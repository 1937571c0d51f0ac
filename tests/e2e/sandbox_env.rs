//! The variables that lead to a served sandbox, and the names that it goes by.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::harness::{Home, Output, Served, text};

fn sandbox(home: &Home, words: &[&str]) -> Output {
    home.ok(["sandbox"].iter().chain(words))
}

#[test]
fn the_variables_of_a_served_sandbox_are_lines_for_the_shell() {
    let (server, home) = Served::with_home();
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
    assert!(fish.starts_with(&format!("set -gx BOOKCTL_BASE_URL '{base}'\n")), "{fish}");
    let added = sandbox(&home, &["organization", "add", "--json"]).json();
    let id = text(&added, "id");
    let variables = sandbox(&home, &["env", "--organization", &id, "--json"]).json();
    assert_eq!(variables["BOOKCTL_API_KEY"], added["keys"]["live"]);
    assert_eq!(variables["BOOKCTL_WEBHOOK_SECRET"], added["webhook_secret"]);
    home.run(["sandbox", "env", "--organization", "nope"]).exits(6);
    sandbox(&home, &["organization", "list"]).shows("sk_live_sandbox");
    let json = sandbox(&home, &["env", "--shell", "json"]).json();
    assert_eq!(json["BOOKCTL_BASE_URL"], base);
    let embedded = Home::new();
    embedded
        .run(["sandbox", "env"])
        .exits(3)
        .says("no sandbox server is named: set BOOKCTL_BASE_URL");
    sandbox(&embedded, &["keys"]).prints("sk_live_sandbox\tlive");
    sandbox(&home, &["keys"]).prints("sk_live_sandbox\tlive");
    // The address alone is enough.
    let named = embedded.with("BOOKCTL_BASE_URL", base);
    assert_eq!(sandbox(&named, env).stdout, expected);
}

#[test]
fn server_answers_to_names_that_it_was_given_and_to_no_others() {
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
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert_eq!(answer.contains("sandbox serve --host evil.example`"), status == "403");
    }
}
