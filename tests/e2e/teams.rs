//! What `docs/teams.md` promises to those who share a journal in PostgreSQL.

use std::path::Path;

use crate::harness::{Postgres, Served, document, installed, skipped};

#[test]
#[ignore = "needs PostgreSQL"]
fn every_command_of_the_page_for_teams_shows_what_it_says() {
    let Some(mut postgres) = Postgres::start() else {
        return;
    };
    if !(installed("psql") && installed("pg_dump")) {
        return skipped("psql and pg_dump are not installed");
    }
    postgres.ask_for_passwords();
    let served = Served::start();
    let home = served
        .home()
        .with("PGHOST", "127.0.0.1")
        .with("PGPORT", &postgres.port().to_string())
        .with("PGUSER", "owner")
        .with("PGDATABASE", "bookctl")
        .with("USER", "you");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/teams.md");
    if let Err(differences) = document::run_in(home, &page) {
        panic!("\n{differences}");
    }
}
