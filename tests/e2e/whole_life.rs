//! The whole life of bookings at services that speak otherwise: everything works after `profile learn --yes`, and what
//! only writes show is set by hand.

use serde_json::Value;

use crate::harness::listening::until;
use crate::harness::{Home, Key, Served, Terminal};
use crate::walk::walk_to_summary;

/// A service that speaks otherwise.
struct Variant {
    name: &'static str,
    /// How it wants the key, as its support or its documentation would say.
    key: &'static [&'static str],
    /// What only a write, or an answer to one, shows.
    revealed: &'static [&'static str],
    /// The provider with sessions.
    provider_b: &'static str,
}

const VARIANTS: [Variant; 4] = [
    Variant {
        name: "as the contract",
        key: &[],
        revealed: &[],
        provider_b: "provider_b",
    },
    Variant {
        name: "enveloped",
        key: &["auth_header=X-Api-Key", "auth_scheme="],
        revealed: &[
            "otp_field=challenge.code",
            "modify_datetime_field=changes.starts_at",
            "modify_party_size_field=changes.guests",
            "modify_seating_field=changes.seating",
            "session_phone_field=contact.phone_number",
            "session_code_field=challenge.code",
            "cancel_reason_field=cancellation.reason",
            "next_action_type_field=challenge.kind",
            "otp_action=verification_code",
            "payment_action=psp_approval",
            "service_name=Reserve",
            "event_id_field=meta.event_id",
            "event_type_field=meta.event_name",
            "provider_b=linked",
        ],
        provider_b: "linked",
    },
    Variant {
        name: "camel",
        key: &["auth_scheme=Token"],
        revealed: &[
            "write.slots={venue_id, window: {from: (.datetime | if type == \"string\" then fromdate * 1000 else . end)}, partySize: .party_size, provider} | with_entries(select(.value != null))",
            "write.create=if .customer then .customer |= (with_entries(.key |= ({phone: \"phoneNumber\", email: \"emailAddress\"}[.] // .))) else . end",
            "write.otp={verification: {code: .otp}}",
            "write.modify={change: ({dateTime: (.datetime | if type == \"string\" then fromdate * 1000 else . end), partySize: .party_size, seating: .seating_preference} | with_entries(select(.value != null)))}",
            "write.cancel=if .reason then {cancelReason: .reason} else {} end",
            "write.connect={end_user, provider, phoneNumber: .phone}",
            "write.verify={verificationCode: .code}",
            "otp_action=ONE_TIME_CODE",
            "payment_action=PAYMENT",
            "service_name=Dinely",
            "event_id_field=eventId",
            "event_type_field=eventType",
            "provider_b=BRAVO",
        ],
        provider_b: "BRAVO",
    },
    Variant {
        name: "plain",
        key: &["auth_header=Api-Key", "auth_scheme=Key"],
        revealed: &[
            "otp_field=pin",
            "modify_datetime_field=new_time",
            "modify_party_size_field=new_covers",
            "modify_seating_field=new_seating",
            "session_phone_field=mobile",
            "session_code_field=pin",
            "cancel_reason_field=note",
            "service_name=Tables",
            "event_id_field=event",
            "event_type_field=topic",
            "provider_b=club",
        ],
        provider_b: "club",
    },
];

/// A service and a home that has learned it.
struct Life {
    _served: Served,
    home: Home,
    variant: &'static Variant,
}

impl Life {
    fn begin(variant: &'static Variant) -> Self {
        let blank = Home::new();
        let mut arguments = vec!["--ephemeral", "--no-limits"];
        if variant.name != VARIANTS[0].name {
            arguments.extend(["--speak", variant.name]);
        }
        let served = Served::with(&blank, &arguments);
        let base_url = served.ready()["base_url"].as_str().unwrap().to_owned();
        let home = Home::new()
            .with("BOOKCTL_API_KEY", "sk_live_sandbox")
            .with("BOOKCTL_WEBHOOK_SECRET", "whsec_sandbox");
        let mut add = vec!["profile", "add", "hub", "--base-url", &base_url];
        for setting in variant.key {
            add.extend(["--dialect", setting]);
        }
        home.run(add).exits(0);
        home.run(["profile", "use", "hub"]).exits(0);
        let learn = ["profile", "learn", "hub", "--yes"];
        home.run(learn).exits(0);
        if !variant.revealed.is_empty() {
            let set = ["profile", "set", "hub"];
            home.run(set.iter().chain(variant.revealed)).exits(0);
            // What a refusal revealed lets the searches answer, and their names are learned now.
            home.run(learn).exits(0);
        }
        home.run(["profile", "set", "hub", "read_only=false"])
            .exits(0);
        Life {
            _served: served,
            home,
            variant,
        }
    }

    fn run(&self, arguments: &[&str]) -> crate::harness::Output {
        self.home.run(arguments)
    }

    /// The id of a venue of the made-up city, by the scenario in its name.
    fn venue(&self, scenario: &str) -> String {
        let found = self
            .run(&[
                "search",
                "dining",
                "--near",
                "Sandbox",
                "--at",
                "tomorrow 19:30",
            ])
            .exits(0);
        let name = format!("({scenario})");
        let row = found.stdout.lines().find(|line| line.contains(&name));
        let row =
            row.unwrap_or_else(|| panic!("{}: {scenario} is not in {found}", self.variant.name));
        row.split('\t').next().unwrap().to_owned()
    }

    /// Books at a venue, and returns the booking's id.
    fn book(&self, scenario: &str, more: &[&str], exit: i32) -> String {
        let venue = self.venue(scenario);
        let command = [
            "book",
            &venue,
            "--at",
            "tomorrow 19:30",
            "--party",
            "2",
            "--name",
            "Ada Lovelace",
        ];
        let booked = self.run(&[&command[..], more].concat()).exits(exit);
        let heading = booked.stdout.lines().next().unwrap_or_default();
        let id = heading.split('\t').nth(1);
        id.unwrap_or_else(|| panic!("{}: {booked}", self.variant.name))
            .to_owned()
    }

    fn code(&self) -> String {
        let inbox = self.run(&["sandbox", "inbox", "--json"]).exits(0).json();
        inbox["messages"][0]["code"].as_str().unwrap().to_owned()
    }
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
fn every_variant_is_searched_booked_paused_changed_and_cancelled() {
    for variant in &VARIANTS {
        let life = Life::begin(variant);
        let name = variant.name;
        let venue = life.venue("confirms");
        let slots = life
            .run(&["slots", &venue, "--at", "tomorrow 19:30", "--party", "2"])
            .exits(0);
        assert!(slots.stdout.contains("card"), "{name}: {slots}");

        let booking = life.book("confirms", &[], 0);
        life.run(&["show", &booking])
            .exits(0)
            .prints("confirmed")
            .prints("Ada Lovelace");
        life.run(&["watch", &booking]).exits(0);
        life.run(&["modify", &booking, "--at", "tomorrow 20:30", "--tz", "UTC"])
            .exits(0)
            .prints("20:30");
        life.run(&["modify", &booking, "--party", "4"]).exits(0);
        life.run(&["cancel", &booking, "--reason", "rain", "--yes"])
            .exits(0)
            .prints("cancelled");

        let paused = life.book("otp", &["--phone", "+44 20 7946 0018"], 10);
        life.run(&["show", &paused, "--exit-status"]).exits(10);
        life.run(&["continue", &paused, "--otp", "000000"])
            .exits(12);
        let code = life.code();
        life.run(&["continue", &paused, "--otp", &code])
            .exits(0)
            .prints("confirmed");

        let details = life.book("confirm_details", &[], 10);
        // One service lists ids alone, which are no bookings, and never an empty list.
        let are_bookings = name != "plain";
        let open = life.run(&["bookings", "--open"]);
        let open = open.exits(if are_bookings { 0 } else { 15 });
        if are_bookings {
            assert!(open.stdout.contains(&details), "{name}: {open}");
        }

        let slow = life.book("processing", &[], 8);
        life.run(&["sandbox", "clock", "--advance", "6s"]).exits(0);
        life.run(&["watch", &slow]).exits(0).prints("confirmed");
    }
}

#[test]
fn every_variant_takes_a_payment_with_its_amount_and_deadline_in_view() {
    for variant in &VARIANTS {
        let life = Life::begin(variant);
        let paid = life.book("payment", &["--payment", "vendor"], 10);
        let shown = life.run(&["show", &paid]).exits(0);
        assert!(shown.stdout.contains("46"), "{}: {shown}", variant.name);
        let document = life.run(&["show", &paid, "--json"]).exits(0).json();
        let approval = find(&document, "approval_id").unwrap_or_else(|| panic!("{document}"));
        let answer = serde_json::json!({"approval_id": approval, "status": "approved"}).to_string();
        life.run(&["continue", &paid, "--psp-response", &answer])
            .exits(0)
            .prints("confirmed");

        let given_up = life.book("payment", &["--payment", "vendor"], 10);
        life.run(&["continue", &given_up, "--psp-abort"])
            .exits(11)
            .prints("payment_declined");
    }
}

#[test]
fn every_variant_connects_a_persons_account_and_says_whether_it_has_a_card() {
    for variant in &VARIANTS {
        let life = Life::begin(variant);
        let connect = [
            "session",
            "connect",
            "--end-user",
            "u1",
            "--phone",
            "+44 20 7946 0018",
            "--provider",
            variant.provider_b,
        ];
        let connected = life.run(&connect).exits(0);
        let session = life.run(&["session", "list", "--jq", "tostring"]).exits(0);
        let id = find(&serde_json::from_str(session.stdout.trim()).unwrap(), "id").unwrap();
        let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        assert!(
            connected.stdout.contains(&id),
            "{}: {connected}",
            variant.name
        );
        let code = life.code();
        life.run(&["session", "verify", &id, "--code", &code])
            .exits(0);
        life.run(&["card", &id])
            .exits(0)
            .prints("has a card on file");
        life.run(&["card", "--end-user", "u1"]).exits(0);
        life.run(&["session", "disconnect", &id, "--yes"]).exits(0);
    }
}

#[test]
fn every_variant_keeps_the_promise_when_an_answer_is_lost_and_in_a_batch() {
    for variant in &VARIANTS {
        let life = Life::begin(variant);
        let venue = life.venue("confirms");
        life.home.fault("POST /v1/bookings", "drop_after", 3);
        let command = [
            "book",
            &venue,
            "--at",
            "tomorrow 19:30",
            "--party",
            "2",
            "--name",
            "Ada Lovelace",
            "--idempotency-key",
            "k1",
        ];
        life.run(&command).exits(16);
        life.run(&["attempts", "resume", "k1"]).exits(0);
        let made = life.run(&["sandbox", "bookings", "--json"]).exits(0).json();
        assert_eq!(
            made["bookings"].as_array().unwrap().len(),
            1,
            "{}",
            variant.name
        );

        let id: Value = serde_json::from_str(&venue).unwrap_or(Value::from(venue.as_str()));
        let slots = life.run(&[
            "slots",
            &venue,
            "--at",
            "in 2 days 19:30",
            "--party",
            "2",
            "--json",
        ]);
        let time = find(&slots.exits(0).json(), "datetime").unwrap();
        let row = serde_json::json!({"venue_id": id, "datetime": time, "party_size": 2, "customer": {"name": "Grace Hopper"}});
        std::fs::write(life.home.folder().join("rows.jsonl"), format!("{row}\n")).unwrap();
        for _ in 0..2 {
            life.run(&["book", "--from", "rows.jsonl", "--batch", "b"])
                .exits(0);
        }
        let made = life.run(&["sandbox", "bookings", "--json"]).exits(0).json();
        assert_eq!(
            made["bookings"].as_array().unwrap().len(),
            2,
            "{}",
            variant.name
        );
    }
}

#[test]
fn every_variants_deliveries_are_verified_received_and_shown() {
    for variant in &VARIANTS {
        let life = Life::begin(variant);
        let ready = life.home.folder().join("ready");
        let file = ready.to_str().unwrap();
        let listening = life.home.start([
            "webhook",
            "listen",
            "--port",
            "0",
            "--ready-file",
            file,
            "--json",
        ]);
        until("the listener is ready", || ready.exists());
        let booking = life.book("confirms", &[], 0);
        until("the booking's events came", || {
            let events = life.run(&["webhook", "events", "list"]);
            events.stdout.contains(&booking) && events.stdout.to_lowercase().contains("confirmed")
        });
        listening.signal("-INT");
        let ended = listening.end();
        assert!(
            !ended.stderr.contains("event_id_field"),
            "{}: {ended}",
            variant.name
        );
    }
}

#[test]
fn a_person_is_walked_through_every_variant_to_a_confirmed_booking() {
    for variant in &VARIANTS {
        let life = Life::begin(variant);
        let mut terminal = Terminal::start(&life.home, &["book"]);
        terminal.see("dining");
        walk_to_summary(&mut terminal, "(otp)");
        // Where terms are worded in another way, Enter alone does not book.
        terminal.type_in("y");
        terminal.see("? One-time code");
        let code = life.code();
        terminal.type_in(&code).press(Key::Enter);
        let ended = terminal.end().exits(0);
        assert!(
            ended.screen.contains("confirmed") || ended.screen.contains("CONFIRMED"),
            "{}:\n{}",
            variant.name,
            ended.screen
        );
    }
}
