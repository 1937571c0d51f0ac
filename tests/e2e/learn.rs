//! A service that nobody has seen: what is set from the shell, what `profile learn` finds out, and what it never sends.

use crate::harness::Foreign;

#[test]
fn the_foreign_service_is_searched_and_its_log_shows_it() {
    let Some(service) = Foreign::start("assumed") else {
        return;
    };
    let home = service.home("");
    let search = ["search", "--near", "New York", "--at", "tomorrow 19:30"];
    let venues = home.run(search.iter().chain(&["--json"])).exits(0).json();
    assert!(
        venues["venues"].as_array().is_some_and(|it| it.len() > 2),
        "{venues}"
    );
    assert_eq!(service.calls(), ["POST /v1/venues/search"]);
    service.saw_no_write();
}
