//! How a service wants its key: what the first login and `profile learn` find out after a 401.

use super::learn::{config, learn, lines};
use crate::harness::{FOREIGN_KEY, Foreign, Home, Terminal, words};

#[test]
#[ignore = "needs Python for the foreign service"]
fn after_401_login_asks_again() {
    let Some(service) = Foreign::start("jsonapi") else {
        return;
    };
    let url = service.base_url();
    let login = words(format!("auth login --profile foreign --base-url {url} --storage file"));
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &login);
    terminal.answer("API key for", FOREIGN_KEY);
    terminal.see("the key was sent as `Authorization: Bearer ***`");
    terminal.see("bookctl profile learn foreign");
    terminal.accept_last("Enter keeps this one", 0);
    assert!(config(&home).contains("key_origin"));
    let home = home.with("X", "");
    let learned = home.json("profile learn foreign --yes");
    assert!(lines(&learned).contains(&"dialect.auth_scheme = Key".to_owned()), "{learned}");
    assert!(!config(&home).contains(FOREIGN_KEY));

    let other = Home::new();
    let piped = words("--key-stdin --dialect auth_scheme=Key");
    other.feed(login.iter().chain(&piped), FOREIGN_KEY).exits(0);
    assert!(config(&other).contains("auth_scheme = \"Key\""));
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn key_of_basic_or_of_query_is_found_and_ways_tried_are_listed() {
    for (variant, expected) in
        [("plain", "dialect.auth_scheme = Basic"), ("nested", "auth_query = api_key")]
    {
        let Some((service, home)) = Foreign::with_home(variant, "") else { return };
        let learned = learn(&home, &["--yes"]).exits(0);
        for way in [
            "sent as: Authorization: Bearer ***",
            "`X-Api-Key: ***`",
            "`Authorization: Basic ***`",
            "`?api_key=***`",
        ] {
            learned.tells(way);
        }
        let lines = lines(&learned.json());
        assert!(lines.contains(&expected.to_owned()), "{lines:?}");
        service.saw_no_write();
        assert!(service.calls().len() <= 25);
        // Learned once, nothing else is tried.
        let before = service.calls().len();
        let again = learn(&home, &["--check"]);
        assert!(!again.stderr.contains("other ways"), "{again}");
        assert!(service.calls().len() - before < 15);
        assert!(!config(&home).contains(FOREIGN_KEY));
    }
}
