//! A journal that a team shares, in PostgreSQL: the promises of the file, from several homes, which
//! stand for machines.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::harness::listening::until;
use crate::harness::{
    Act, GUEST, Gate, Home, Misbehaving, Postgres, Served, each, has, holds, text, words,
};
use crate::two_runs::booking;

/// A served sandbox, and a PostgreSQL with a journal that is prepared for those who use it.
pub(crate) struct Team {
    pub(crate) served: Served,
    pub(crate) postgres: Postgres,
}

impl Team {
    /// `None` where no PostgreSQL is installed.
    #[track_caller]
    pub(crate) fn new() -> Option<Self> {
        Self::with_journal(Served::start())
    }

    /// One whose sandbox meters nothing.
    #[track_caller]
    pub(crate) fn free() -> Option<Self> {
        Self::with_journal(Served::unlimited())
    }

    #[track_caller]
    fn with_journal(served: Served) -> Option<Self> {
        let postgres = Postgres::start()?;
        let team = Team { served, postgres };
        team.machine("owner").ok(["journal", "init"]);
        Some(team)
    }

    /// A home that shares the journal, as a user of this name.
    pub(crate) fn machine(&self, user: &str) -> Home {
        self.machine_at(&self.postgres.url(), user)
    }

    /// The same that reaches the journal by another URL.
    pub(crate) fn machine_at(&self, journal: &str, user: &str) -> Home {
        sharing(self.served.home(), journal, user)
    }

    /// Runs a statement in the journal's database, and returns what it shows.
    #[track_caller]
    pub(crate) fn sql(&self, statement: &str) -> String {
        self.postgres.sql("bookctl", statement)
    }
}

pub(crate) fn sharing(home: Home, journal: &str, user: &str) -> Home {
    home.with("BOOKCTL_JOURNAL", journal).with("USER", user)
}

#[test]
#[ignore = "needs PostgreSQL"]
fn bookings_attempts_and_limits_are_those_of_all_computers() {
    let Some(team) = Team::new() else { return };
    let [ada, bob] = ["ada", "bob"].map(|user| team.machine(user));
    let id = ada.booked("ven_confirms", &[], 0);
    assert_eq!(text(&bob.list("bookings")[0], "id"), id);
    assert_eq!(text(&bob.list("bookings lovelace")[0], "id"), id);
    let attempts = bob.list("attempts list --all");
    let run = &attempts[0]["runs"][0];
    assert_eq!(text(run, "user"), "ada");
    assert!(!text(run, "host").is_empty());
    let limits = bob.list("limits");
    let creates = |limit: &&Value| limit["endpoint"] == "POST /v1/bookings";
    assert_eq!(limits.iter().find(creates).unwrap()["remaining"], 9);
    assert_eq!(ada.list("bookings --mine").len(), 1);
    assert!(bob.list("bookings --mine").is_empty());
    // What a terminal saw stays its own.
    ada.ok(["show", "@last"]);
    bob.run(["show", "@last"]).exits(2);
    assert!(!bob.path().join("journal.db").exists());
}

/// A machine that books at a service whose answers can be held.
pub(crate) fn home_of(service: &Misbehaving, journal: &str, user: &str) -> Home {
    let home = Home::pointing_to(service.base_url(), "sk_live_sandbox");
    sharing(home, journal, user)
}

/// Two of them, and the journal that they share, prepared.
#[track_caller]
pub(crate) fn two_machines(service: &Misbehaving) -> Option<(Postgres, [Home; 2])> {
    let db = Postgres::start()?;
    let homes = ["ada", "bob"].map(|user| home_of(service, &db.url(), user));
    homes[0].ok(["journal", "init"]);
    Some((db, homes))
}

/// A service that does what the contract says, and holds its first answer back at the gate.
pub(crate) fn answering_late() -> (Gate, Misbehaving) {
    let gate = Gate::default();
    let held = gate.clone();
    let count = AtomicUsize::new(0);
    let service = Misbehaving::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Act::proper().answer_held(&held),
        _ => Act::proper(),
    });
    (gate, service)
}

#[test]
#[ignore = "needs PostgreSQL"]
fn answer_that_cannot_be_written_is_shown() {
    let (gate, service) = answering_late();
    let Some(mut postgres) = Postgres::start() else {
        return;
    };
    let home = home_of(&service, &postgres.url(), "ada");
    home.ok(["journal", "init"]);
    let running = home.start(booking("order-1", &["--timeout", "6s"]));
    gate.wait_for(1);
    postgres.kill();
    gate.open();
    let ended = running.end();
    assert_eq!(ended.code, Some(0), "{ended}");
    ended.tells("could not be saved in the journal");
    let id = text(&ended.json(), "id");
    postgres.run();
    let other = home_of(&service, &postgres.url(), "bob");
    assert_eq!(other.list("attempts").len(), 1);
    let resumed = other.ok(["attempts", "resume", "order-1", "--json"]);
    assert_eq!(text(&resumed.json(), "id"), id);
    assert_eq!(service.ledger().len(), 1);
    assert!(other.list("attempts").is_empty());
}

#[test]
#[ignore = "needs PostgreSQL"]
fn two_computers_resuming_one_attempt_send_it_once() {
    let (first, second) = (Gate::default(), Gate::default());
    let held = [first.clone(), second.clone()];
    let service = Misbehaving::start(move |arrived| match held.get(arrived.earlier) {
        Some(gate) => Act::proper().answer_held(gate),
        None => Act::proper(),
    });
    let Some((db, [ada, bob])) = two_machines(&service) else { return };
    let killed = ada.start(booking("order-1", &[]));
    first.wait_for(1);
    killed.kill();
    first.open();
    let resume = ["attempts", "resume", "order-1", "--json"];
    let both = [ada.start(resume), bob.start(resume)];
    second.wait_for(1);
    second.open();
    let ids = both.map(|it| text(&it.ends(0).json(), "id"));
    assert_eq!(ids[0], ids[1]);
    assert_eq!(service.posted().len(), 2, "{:?}", service.posted());
    assert_eq!(service.ledger().len(), 1);
    // Another organization's key settles nothing.
    let stranger =
        home_of(&service, &db.url(), "eve").with("BOOKCTL_API_KEY", "sk_live_another_one");
    stranger.run(resume).refused(3, "config");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn local_journal_is_copied_into_the_shared_one_repeatedly() {
    let Some(team) = Team::new() else { return };
    let local = team.served.home();
    let id = local.booked("ven_confirms", &[], 0);
    local.ok(["cancel", &id, "--yes"]);
    let rows = local.folder().join("rows.jsonl");
    let row = |guest: &str| {
        let customer = json!({ "name": guest });
        json!({"venue_id": "ven_confirms", "datetime": "2038-01-02T20:30:00Z", "party_size": 2, "customer": customer})
    };
    fs::write(&rows, format!("{}\n{}", row("Bob Low"), row("Cy Day"))).unwrap();
    let batch = ["batch", rows.to_str().unwrap(), "--json"];
    let printed = local.ok(batch).stdout;
    let shared = team.machine("ada");
    let file = local.path().join("journal.db");
    let copy = words(format!("journal copy --json --from {}", file.display()));
    for _ in 0..2 {
        let copied = shared.ok(&copy).json();
        holds!(copied, {"attempts": 3, "bookings": 3});
    }
    assert!(each(&shared.json("bookings")["bookings"], "id").contains(&id));
    let attempts = shared.list("attempts list --all");
    assert_eq!(attempts[0]["runs"].as_array().unwrap().len(), 1);
    let state = shared.json("journal status");
    holds!(state, {"kind": "postgresql", "attempts": 3});
    assert_eq!(shared.ok(batch.iter().chain(&["--results"])).stdout, printed);
    // A guest who was forgotten does not come back.
    shared.ok(["bookings", "forget", &id]);
    shared.ok(&copy);
    assert_eq!(shared.list("bookings").len(), 2);
    let mut missing = copy.clone();
    missing[4] = "/nowhere/journal.db".into();
    shared.run(missing).refused(3, "journal");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn guests_are_forgotten_for_the_whole_team() {
    let Some(team) = Team::new() else { return };
    let [ada, bob] = ["ada", "bob"].map(|user| team.machine(user));
    let id = ada.booked("ven_confirms", &["--end-user", "lovelace-1"], 0);
    let holds = || {
        team.sql("SELECT count(*) FROM (SELECT a::text AS t FROM attempts a UNION ALL SELECT b::text FROM bookings b UNION ALL SELECT s::text FROM sightings s) r WHERE t ILIKE '%lovelace%'")
    };
    assert_ne!(holds(), "0");
    bob.ok(["bookings", "forget", &id, "--yes"]);
    assert_eq!(holds(), "0");
    // With a retention of nothing, only the id and the status are kept.
    let kept = bob.booked("ven_confirms", &["--retention", "0"], 0);
    assert_eq!(holds(), "0");
    let bookings = ada.list("bookings");
    assert_eq!(text(&bookings[0], "id"), kept);
    assert_eq!(text(&bookings[0], "status"), "confirmed");
}

/// The server looks at texts with patterns and an index, the file with neither.
#[test]
#[ignore = "needs PostgreSQL"]
fn search_finds_same_in_shared_journal_as_in_file_with() {
    let Some(team) = Team::free() else { return };
    let file = team.served.home();
    let shared = team.machine("ada");
    let guests = [
        // No id has letters past f, so none is found by these names.
        ("Nora Lovelace", "+44 20 7946 0018", "tomorrow 19:30"),
        ("Augusta Lovelace", "+44 20 7946 0021", "in 2 days 19:30"),
        ("Siobhán O'Brien 100%", "+353 1 555 0100", "in 3 days 19:30"),
        (r"Back\slash_x Test", "+1 202 555 0143", "in 4 days 19:30"),
        ("李 雷", "+86 10 5550 0166", "in 5 days 19:30"),
    ];
    for (name, phone, at) in guests {
        for home in [&file, &shared] {
            let guest = ["--name", name, "--phone", phone];
            let slot = ["book", "ven_confirms", "--at", at, "--party", "2", "--json"];
            home.ok(slot.iter().chain(&guest));
        }
    }
    let names = |home: &Home, search: &[&str]| -> Vec<String> {
        let found = home.ok(["bookings", "--json"].iter().chain(search));
        let found = found.json();
        let found = found["bookings"].as_array().unwrap().iter();
        found.map(|it| text(&it["customer"], "name")).collect()
    };
    let searches: [(&[&str], usize); 15] = [
        (&["lovelace"], 2),
        (&["lovelace nora"], 1),
        (&["nora", "--limit", "1"], 1),
        (&["--guest", "a lovelace"], 2),
        (&["--guest", "obrien"], 1),
        (&["siobhan"], 1),
        (&["100%"], 1),
        (&["%"], 1),
        (&[r"\"], 1),
        (&["h_x"], 1),
        (&["7946 0021"], 1),
        (&["--phone", "020 7946"], 2),
        (&["confirms"], 5),
        (&["雷"], 1),
        (&["nobody"], 0),
    ];
    let indexes =
        || team.sql("SELECT count(*) FROM pg_indexes WHERE indexname = 'bookings_search'");
    for is_indexed in [true, false] {
        assert_eq!(indexes(), if is_indexed { "1" } else { "0" });
        for (search, count) in searches {
            let found = names(&file, search);
            assert_eq!(found.len(), count, "{search:?}: {found:?}");
            assert_eq!(names(&shared, search), found, "{search:?} {is_indexed}");
        }
        team.sql("DROP INDEX IF EXISTS bookings_search");
    }
    shared.ok(["journal", "init"]);
    assert_eq!(indexes(), "1");
    // A server without the extension is used all the same.
    team.sql("DROP EXTENSION pg_trgm CASCADE");
    team.sql("CREATE ROLE weak LOGIN; GRANT ALL ON SCHEMA public TO weak; GRANT ALL ON ALL TABLES IN SCHEMA public TO weak");
    let weak = team.postgres.url().replace("owner@", "weak@");
    let weak = team.machine_at(&weak, "weak");
    let init = weak.run(["journal", "init"]);
    init.exits(0).prints("Searches have no index");
    let init = weak.json("journal init");
    has(&init, "search_not_indexed", "permission");
    assert_eq!(names(&shared, &["augusta"]), ["Augusta Lovelace"]);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn guest_deleted_while_another_computer_reads_stays_deleted() {
    let Some(team) = Team::free() else { return };
    let home = team.machine("ada");
    let id = home.booked("ven_confirms", &[], 0);
    // What `bookings forget` does, held before its commit.
    let forgetting = team.postgres.begin(
        "bookctl",
        "UPDATE attempts SET request = '{}', forgotten_at = '2026-01-01T00:00:00Z'; DELETE FROM bookings",
    );
    let changing = home.start(["modify", &id, "--party", "3", "--yes"]);
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bookctl' AND wait_event_type = 'Lock'";
    until("the other machine waits", || team.sql(waits) == "1");
    forgetting.commit();
    changing.ends(0);
    assert_eq!(team.sql("SELECT count(*) FROM bookings"), "0");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn organizations_of_one_profile_name_share_nothing() {
    let Some(team) = Team::new() else { return };
    let config = format!(
        "default_profile = 'live'\n[profiles.live]\nbase_url = '{}'\njournal = '{}'\n",
        team.served.base_url(),
        team.postgres.url()
    );
    let [ours, theirs] = ["sk_live_sandbox", "sk_live_other"].map(|key| {
        let home = Home::new().configured(&config);
        let login = words("auth login --profile live --key-stdin --storage file");
        home.feed(&login, &format!("{key}\n")).exits(0);
        home
    });
    let book = ["book", "ven_confirms"].iter().chain(&GUEST);
    let book: Vec<&str> = book.chain(&["--idempotency-key", "order-1"]).copied().collect();
    ours.ok(&book);
    assert!(!ours.list("limits").is_empty());
    assert!(!theirs.list("limits").is_empty());
    let refused = theirs.run(book.iter().chain(&["--json"]));
    let refused = refused.refused(3, "config");
    assert!(text(&refused, "message").contains("another API key"));
}
