//! The whole life of bookings at the independent service (`tests/foreign`), at each of its
//! variants: learned by `profile learn --yes`, and with what `tests/foreign/profiles.toml` says of
//! it.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::harness::{FOREIGN_KEY, Foreign, Home, Output, holds, words};

#[rustfmt::skip]
const VARIANTS: [&str; 10] = [
    "assumed", "enveloped", "camel", "plain", "nested", "shouting", "jsonapi", "ledger", "hal", "reservations",
];

/// The settings of a variant's profile, as arguments of `profile set`.
fn settings(variant: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/profiles.toml");
    let profiles: toml::Table = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut settings = Vec::new();
    for (key, value) in profiles[variant].as_table().unwrap() {
        match value {
            toml::Value::Table(table) => settings.extend(table.iter().map(|(name, value)| {
                let words = value.as_str().unwrap().split_whitespace();
                format!("{key}.{name}={}", words.collect::<Vec<_>>().join(" "))
            })),
            toml::Value::String(text) => settings.push(format!("{key}={text}")),
            other => settings.push(format!("{key}={other}")),
        }
    }
    settings
}

/// The service at one variant, and a home that has learned it.
struct Life {
    service: Foreign,
    home: Home,
    variant: &'static str,
}

impl Life {
    fn begin(variant: &'static str) -> Option<Self> {
        let options = ["--no-limits", "--allowance", "1000", "--eager"];
        let service = Foreign::with(variant, &options)?;
        let home = Home::new().with("BOOKCTL_API_KEY", FOREIGN_KEY);
        home.ok(["profile", "add", "hub", "--base-url", service.base_url()]);
        home.ok(["profile", "use", "hub"]);
        let settings = settings(variant);
        let says_how_the_key_is_sent =
            |it: &&String| it.contains("auth_") || it.starts_with("headers.");
        let set = ["profile", "set", "hub", "read_only=false"].map(str::to_owned);
        let way: Vec<&String> = settings.iter().filter(says_how_the_key_is_sent).collect();
        home.ok(set.iter().chain(way));
        home.ok(["profile", "learn", "hub", "--yes"]);
        service.saw_no_write();
        home.ok(set.iter().chain(&settings));
        Some(Life { service, home, variant })
    }

    #[track_caller]
    fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>, exit: i32) -> Output {
        let output = self.home.run(arguments);
        assert_eq!(output.code, Some(exit), "{}: {output}", self.variant);
        output
    }

    /// The id and the provider of a venue, found by a search.
    fn venue(&self, name: &str) -> (String, String) {
        let venues = self.service.control("GET", "venues", "");
        let venues = venues["venues"].as_array().unwrap();
        let venue = venues.iter().find(|venue| venue["name"] == name).unwrap();
        let field = |name: &str| plain(&venue[name]);
        let (vertical, city) = (field("vertical"), field("city"));
        let search = words(format!("search '{vertical}' --near '{city}' --at 'tomorrow 19:30'"));
        let found = self.run(&search, 0);
        let row = found.stdout.lines().find(|row| row.contains(name));
        let row = row.unwrap_or_else(|| panic!("{}: {name} is not in {found}", self.variant));
        let id = row.split('\t').next().unwrap();
        assert_eq!(id, field("venue_id"), "{}", self.variant);
        (id.to_owned(), field("provider"))
    }

    fn booking_of(&self, venue: &str, more: &[&str]) -> Vec<String> {
        let (venue, provider) = self.venue(venue);
        let mut line = words(format!(
            "book '{venue}' --provider '{provider}' --at 'tomorrow 19:30' --party 2 --name 'Ada Lovelace' \
             --email ada@x.example --phone '+44 20 7946 0018'"
        ));
        line.extend(more.iter().map(|it| (*it).to_owned()));
        line
    }

    /// Books at a venue: the booking's id, and what was shown.
    #[track_caller]
    fn book(&self, venue: &str, more: &[&str], exit: i32) -> (String, Output) {
        let command = self.booking_of(venue, more);
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let booked = self.run(&command, exit);
        let heading = booked.stdout.lines().next().unwrap_or_default();
        let id = heading.split('\t').nth(1).unwrap_or_default().to_owned();
        assert_ne!(id, "", "{}: {booked}", self.variant);
        (id, booked)
    }

    /// What the service knows: its bookings and sessions.
    fn state(&self, list: &str) -> Vec<Value> {
        let state = self.service.control("GET", "state", "");
        state[list].as_array().unwrap().clone()
    }

    /// A booking as the service knows it.
    fn known(&self, id: &str) -> Value {
        let all = self.state("bookings");
        let known = all.into_iter().find(|booking| plain(&booking["id"]) == id);
        known.unwrap_or_else(|| panic!("{}: there is no booking {id}", self.variant))
    }

    /// The code that was sent last.
    fn code(&self) -> String {
        let codes = self.service.control("GET", "codes", "");
        plain(&codes["codes"].as_array().unwrap().last().unwrap()["code"])
    }

    /// The vendor's answer to the payment that a booking waits for.
    fn approval(&self, id: &str, outcome: &str) -> String {
        let path = format!("approve/{id}?outcome={outcome}");
        self.service.control("POST", &path, "{}")["psp_response"].to_string()
    }

    /// Fails where one of these texts, with bars between them, is missing in what was shown.
    #[track_caller]
    fn shows(&self, output: &Output, parts: &str) {
        for part in parts.split('|') {
            let found = output.stdout.contains(part);
            assert!(found, "{}: {part:?} is not in {output}", self.variant);
        }
    }

    /// The same of what a command shows that ends so.
    #[track_caller]
    fn sees<A: AsRef<OsStr>>(&self, command: impl IntoIterator<Item = A>, exit: i32, parts: &str) {
        self.shows(&self.run(command, exit), parts);
    }

    fn continues(&self, id: &str, answer: &[&str], exit: i32) -> Output {
        self.run([&["continue", id], answer].concat(), exit)
    }

    /// Each create was sent once, made one booking, and no two bookings have one key.
    #[track_caller]
    fn booked_nothing_twice(&self, expected: usize) {
        let bookings = self.state("bookings");
        assert_eq!(bookings.len(), expected, "{}", self.variant);
        let keys: std::collections::BTreeSet<String> =
            bookings.iter().map(|booking| plain(&booking["idempotency_key"])).collect();
        assert_eq!(keys.len(), expected, "{}", self.variant);
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Runs a part of the life at every variant, a few of them at a time: some parts wait for the
/// service.
fn at_every_variant(part: impl Fn(&Life) + Sync) {
    let left = Mutex::new(VARIANTS.iter());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let Some(variant) = left.lock().unwrap().next() else {
                        return;
                    };
                    if let Some(life) = Life::begin(variant) {
                        part(&life);
                    }
                }
            });
        }
    });
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn venues_and_slots_are_found_with_all_pages_terms() {
    at_every_variant(|life| {
        let search = "search dining --near 'New York' --at 'tomorrow 19:30' --party 2";
        let all = life.run(words(search), 0);
        life.shows(&all, "Lantern House|Stubborn Fork|Corner Oyster|Long Supper Club");
        assert!(!all.stderr.contains("cannot be read"), "{all}");
        let (id, b) = life.venue("Corner Oyster");
        let few = life.run(words(format!("{search} --provider '{b}'")), 0);
        life.shows(&few, "Corner Oyster|Long Supper Club");
        assert_eq!(few.stdout.lines().count(), 2, "{}: {few}", life.variant);

        let slots = format!("slots '{id}' --at 'tomorrow 19:30' --party 2 --provider '{b}'");
        let slots = life.run(words(slots), 0);
        let count = slots.stdout.lines().count();
        assert_eq!(count, 25, "{}: {slots}", life.variant);
        let terms = match life.variant {
            "shouting" => "HOLD USD 25.00|FEE USD 15.00",
            _ => {
                "A card holds the table; USD 25.00 per person is kept|Free until 24 hours before, then USD 15.00."
            }
        };
        life.shows(&slots, terms);
    });
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn a_booking_is_made_shown_changed_and_cancelled() {
    at_every_variant(|life| {
        let (id, booked) = life.book("Harbour Table", &[], 0);
        let guest = ["Ada Lovelace", "ada@x.example", "+44 20 7946 0018"];
        for output in [&booked, &life.run(["show", &id], 0)] {
            life.shows(output, "confirmed|Harbour Table|19:30|party\t2");
            life.shows(output, &guest.join("|"));
        }
        life.sees(["bookings"], 0, "Harbour Table|19:30|Ada Lovelace");
        let known = life.known(&id);
        holds!(known, {"guest_phone": guest[2], "guest_email": guest[1]});

        let modify = format!("modify '{id}' --at 'tomorrow 20:30' --party 4 --seating terrace");
        let changed = life.run(words(modify), 0);
        life.shows(&changed, "20:30|party\t4|seating\tterrace");
        // The new slot's own words are all that there is to warn of.
        let warnings = changed.stderr.lines().filter(|it| it.starts_with("warning: "));
        let mut others = warnings.filter(|it| !it.starts_with("warning: the slot shows: "));
        assert_eq!(others.next(), None, "{changed}");
        let now = life.known(&id);
        holds!(now, {"party_size": 4, "seating": "terrace"});
        let moved = now["datetime"].as_i64().unwrap() - known["datetime"].as_i64().unwrap();
        assert_eq!(moved, 3600, "{}", life.variant);

        // One service has no field for a reason.
        let cancel = ["cancel", &id, "--yes", "--reason", "rain"];
        let takes_a_reason = life.variant != "shouting";
        if !takes_a_reason {
            life.run(cancel, 12).says("dialect.cancel_reason_field");
        }
        let cancel = &cancel[..if takes_a_reason { 5 } else { 3 }];
        life.sees(cancel, 0, "cancelled");
        let now = life.known(&id);
        assert_eq!(now["status"], "cancelled", "{}", life.variant);
        assert_eq!(now["cancel_reason"] == "rain", takes_a_reason, "{now}");

        let (stubborn, _) = life.book("Stubborn Fork", &[], 0);
        life.run(["modify", &stubborn, "--party", "4"], 7).says("the venue refused the change");
        let (bound, _) = life.book("Morning Coach", &[], 0);
        let cancel = ["cancel", &bound, "--yes", "--reason", "rain"];
        life.run(&cancel[..if takes_a_reason { 5 } else { 3 }], 7);
        assert_eq!(life.known(&stubborn)["party_size"], 2);
        assert_eq!(life.known(&bound)["status"], "confirmed");
        life.booked_nothing_twice(3);
    });
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn code_fields_and_payment_are_answered_in_the_services_form() {
    at_every_variant(|life| {
        let pay = ["--payment", "vendor"];
        let (id, paused) = life.book("Long Supper Club", &pay, 10);
        life.shows(&paused, "one-time code|Enter the code|18");
        let wrong = life.continues(&id, &["--otp", "000000"], 12);
        assert!(wrong.stderr.contains("the code is wrong"), "{wrong}");
        let tells = !["shouting", "reservations"].contains(&life.variant);
        assert_eq!(wrong.stderr.contains(": 2"), tells, "{wrong}");
        assert!(!wrong.stderr.contains("session connect"), "{wrong}");

        let asked = life.continues(&id, &["--otp", &life.code()], 10);
        life.shows(&asked, "two more things|membership_number|waiver_accepted");
        let fields = words("-F membership_number=00712 -F waiver_accepted=true");
        life.sees(
            [words(format!("continue '{id}'")), fields].concat(),
            10,
            "payment approval|73|Approve the payment|vpr_",
        );
        let details = json!({"membership_number": "00712", "waiver_accepted": true});
        assert_eq!(life.known(&id)["details"], details, "{}", life.variant);
        life.continues(&id, &["--psp-response", "{}"], 12);
        let approved = life.approval(&id, "approved");
        life.continues(&id, &["--psp-response", &approved], 8);
        // The third read finds it confirmed.
        for _ in 0..2 {
            life.run(["show", &id, "--exit-status"], 8);
        }
        life.run(["show", &id, "--exit-status"], 0);

        let (declined, _) = life.book("Velvet Room", &pay, 10);
        let answer = life.approval(&declined, "declined");
        life.shows(&life.continues(&declined, &["--psp-response", &answer], 11), "card_declined");
        let (given_up, _) = life.book("Velvet Room", &pay, 10);
        life.shows(&life.continues(&given_up, &["--psp-abort"], 11), "payment_declined");
        let (late, _) = life.book("Velvet Room", &pay, 10);
        let answer = life.approval(&late, "approved");
        life.service.control("POST", "clock", "{\"advance_seconds\": 660}");
        life.shows(
            &life.continues(&late, &["--psp-response", &answer], 11),
            "payment_approval_expired",
        );
        life.booked_nothing_twice(4);
    });
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn a_booking_is_waited_for_until_it_is_confirmed_or_failed() {
    at_every_variant(|life| {
        let (_, booked) = life.book("Deep Water Pool", &["--wait"], 0);
        life.shows(&booked, "confirmed");
        let (id, _) = life.book("Lantern House", &[], 8);
        // Each state is shown once, whatever else differs from answer to answer.
        let watched = life.run(["watch", &id], 0).stdout.to_lowercase();
        for state in ["processing", "confirmed"] {
            let heading = format!("{state}\t{}", id.to_lowercase());
            let count = watched.matches(&heading).count();
            assert_eq!(count, 1, "{}: {watched}", life.variant);
        }
        let (_, failed) = life.book("Night Ferry", &["--wait"], 11);
        life.shows(&failed, "failed|provider_unreachable");
        let (_, failed) = life.book("Full House Grill", &[], 11);
        life.shows(&failed, "failed|no_table_left");
        life.booked_nothing_twice(4);
    });
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn a_persons_account_is_connected_shown_used_and_disconnected() {
    at_every_variant(|life| {
        let (_, provider) = life.venue("Corner Oyster");
        let connect = |person: &str, phone: &str| {
            let who = ["--end-user", person, "--phone", phone];
            let connect = ["session", "connect", "--provider", &provider];
            life.run([&connect[..], &who].concat(), 0);
            plain(&life.state("sessions").last().unwrap()["id"])
        };
        let id = connect("u1", "+44 20 7946 0018");
        life.run(["session", "verify", &id, "--code", "000000"], 12).says("the code is wrong");
        life.sees(
            ["session", "verify", &id, "--code", &life.code()],
            0,
            &format!("active|{id}|guest\tu1|{provider}"),
        );
        let other = connect("u2", "+44 20 7946 0019");
        life.sees(["session", "list"], 0, &format!("{id}|{other}|u1|u2"));
        let mine = life.run(words("session list --end-user u1 --state active"), 0);
        life.shows(&mine, &id);
        assert!(!mine.stdout.contains(&other), "{}: {mine}", life.variant);
        life.sees(["session", "show", &id], 0, "active|u1");
        for card in [&["card", &id][..], &["card", "--end-user", "u1"]] {
            life.sees(card, 0, "has a card on file");
        }
        life.run(["card", &other], 7).says("connect");
        let (booking, _) = life.book("Corner Oyster", &["--end-user", "u1"], 10);
        assert_eq!(life.known(&booking)["end_user"], "u1");
        life.run(["session", "disconnect", &id, "--yes"], 0);
        life.run(["session", "show", &id], 6);
    });
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn a_lost_answer_is_found_again_and_a_batch_books_each_row_once() {
    at_every_variant(|life| {
        let fault = json!({"method": "POST", "path": "/v1/bookings", "status": "drop", "times": 5});
        let lost = life.booking_of("Harbour Table", &["--idempotency-key", "k1"]);
        life.service.control("POST", "fault", &fault.to_string());
        let lost: Vec<&str> = lost.iter().map(String::as_str).collect();
        life.run(&lost, 16).says("bookctl attempts resume k1");
        life.sees(["attempts"], 0, "k1|unresolved|19:30");
        life.booked_nothing_twice(1);
        let drops = life.service.calls();
        let drops = drops.iter().filter(|call| *call == "POST /v1/bookings");
        for _ in drops.count()..5 {
            life.service.control("POST", "clock", "{}");
            life.home.run(["attempts", "resume", "k1"]);
        }
        life.sees(["attempts", "resume", "k1"], 0, "confirmed");
        life.booked_nothing_twice(1);

        let (venue, provider) = life.venue("Harbour Table");
        let slots = words(format!(
            "slots '{venue}' --provider '{provider}' --at 'in 2 days 19:30' --party 2 --json"
        ));
        let time = find(&life.run(&slots, 0).json(), "datetime").unwrap();
        let venues = life.service.control("GET", "venues", "");
        let id = &venues["venues"][0]["venue_id"];
        let row = json!({"venue_id": id, "datetime": time, "party_size": 2, "customer": {"name": "Grace Hopper"}});
        std::fs::write(life.home.folder().join("rows.jsonl"), format!("{row}\n")).unwrap();
        for _ in 0..2 {
            let batch = ["batch", "rows.jsonl", "--name", "b"];
            life.sees(batch, 0, "confirmed|10:00");
        }
        life.booked_nothing_twice(2);
    });
}

/// The value of the first member with this name, wherever it stands.
fn find(value: &Value, name: &str) -> Option<Value> {
    match value {
        Value::Object(object) => object
            .get(name)
            .cloned()
            .or_else(|| object.values().find_map(|value| find(value, name))),
        Value::Array(elements) => elements.iter().find_map(|value| find(value, name)),
        _ => None,
    }
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn open_bookings_are_listed_in_every_shape() {
    at_every_variant(|life| {
        let none = life.run(["bookings", "--open"], 0);
        none.says("No unfinished bookings");
        let (id, _) = life.book("Corner Oyster", &[], 10);
        life.sees(["bookings", "--open"], 0, &id);
        if !settings(life.variant).iter().any(|it| it.starts_with("read.error=")) {
            return;
        }
        // Without the expression nothing in the list has `id` and `status`: it is shown as it came.
        life.run(["profile", "unset", "hub", "read.error"], 0);
        let unread = life.run(["bookings", "--open"], 15);
        assert!(unread.stderr.contains(&id), "{}: {unread}", life.variant);
        unread.says("read.error=EXPRESSION");
    });
}
