//! Text from outside that wants to act: in every field of every document, and in every place where
//! it is shown.

use serde_json::{Map, Value, json};

use crate::harness::{Home, Output, Reply, Scripted, Terminal, words};

/// What drives a terminal, turns text round, hides it, or lies about where a line ends.
const NASTY: &str = "Evil\u{1b}[2J\u{1b}[31m\u{1b}]8;;http://evil.example\u{7}link\u{1b}]8;;\u{7}\u{1b}]52;c;ZXZpbA==\u{7}\
    \u{9b}31m\u{9d}0;owned\u{9c}\u{85}\u{202e}elbaT\u{2066}x\u{2069}\u{200b}\u{200d}\u{feff}\u{2028}\r\nfake\tcolumn\u{0}\u{8}\u{7f}\
    \u{e0041}寿司🍣\u{fe0f}e\u{301}";

/// A character that nothing of what is shown may hold.
fn acts(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[track_caller]
fn is_harmless(what: &str, output: &Output) {
    for stream in [&output.stdout, &output.stderr] {
        assert!(!stream.contains(acts), "{what}: {:?}", cut(stream));
        assert!(!stream.contains("panicked"), "{what}: {}", cut(stream));
    }
}

/// The part around what acts, for a message that can be read.
fn cut(stream: &str) -> String {
    let place = stream.find(acts).unwrap_or(0);
    let before: Vec<char> = stream[..place].chars().rev().take(80).collect();
    let before: String = before.into_iter().rev().collect();
    before + &stream[place..].chars().take(40).collect::<String>()
}

/// Every text of a document, but those that make it what it is. An id is at most a kilobyte long,
/// and has one line.
fn poisoned(value: &Value, text: &str) -> Value {
    let of = |key: &str, value: &Value| match matches!(key, "id" | "venue_id" | "availability_id") {
        true if text.len() > 1024 => json!("id_1"),
        true => json!(text.replace(char::is_control, "")),
        _ => poisoned(value, text),
    };
    match value {
        Value::String(_) => json!(text),
        Value::Array(list) => list.iter().map(|it| poisoned(it, text)).collect(),
        Value::Object(object) => object
            .iter()
            .map(|(key, value)| (key.clone(), of(key, value)))
            .chain([(text.to_owned(), json!(text))])
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// The same with some fields as they were, so that the document is still read.
fn with(mut document: Value, fields: &[(&str, Value)]) -> Value {
    for (field, value) in fields {
        document[*field] = value.clone();
    }
    document
}

fn booking(status: &str, text: &str) -> Value {
    let plain = json!({
        "id": "", "object": "", "status": "", "provider": "", "venue_id": "", "venue_name": "", "datetime": "",
        "party_size": 2, "customer": {"name": "", "email": "", "phone": ""}, "end_user": "", "seating_preference": "",
        "payment_collection": "", "error_code": "", "error_message": "", "expires_at": "", "created_at": "",
        "next_action": {
            "type": "", "message": "", "channel": "", "sent_to": "", "expires_at": "", "amount": "", "currency": "",
            "fields": [""], "psp_request": {"a": ""},
        },
        "last_modification": {"at": "", "changes": {"datetime": {"from": "", "to": ""}}},
    });
    with(poisoned(&plain, text), &[("status", json!(status))])
}

fn venues(text: &str) -> Value {
    let plain = json!({
        "object": "", "providers_failed": [""],
        "venues": [{
            "venue_id": "", "name": "", "vertical": "", "provider": "", "providers": ["", ""], "address": "", "city": "",
            "country": "", "timezone": "", "price_level": "", "tags": ["", ""],
        }],
    });
    poisoned(&plain, text)
}

fn slots(text: &str) -> Value {
    let plain = json!({
        "object": "", "venue_id": "", "provider": "",
        "slots": [{
            "availability_id": "", "datetime": "", "seating": "", "price": {"amount": "", "currency": ""},
            "card_terms": {"text": "", "currency": ""}, "cancellation_terms": {"text": "", "free_until": ""},
        }],
    });
    poisoned(&plain, text)
}

fn sessions(text: &str) -> Value {
    let plain = json!({"object": "", "sessions": [{"id": "", "state": "", "end_user": "", "provider": "", "created_at": ""}]});
    poisoned(&plain, text)
}

/// Answers each call with its document, all of whose texts are this one.
fn service(text: &str) -> Scripted {
    let text = text.to_owned();
    Scripted::start(move |request| {
        let path = request.path.split('?').next().unwrap();
        let id = path.split('/').nth(3).unwrap_or_default();
        match path {
            "/v1/venues/search" => Reply::json(200, &venues(&text)),
            "/v1/availability/search" => Reply::json(200, &slots(&text)),
            "/v1/sessions" if request.method == "GET" => Reply::json(200, &sessions(&text)),
            "/v1/" => Reply::json(
                200,
                &poisoned(
                    &json!({"name": "", "version": "", "server_time": "", "endpoints": [{"method": "", "path": "", "summary": ""}]}),
                    &text,
                ),
            ),
            path if path.starts_with("/v1/sessions") => {
                Reply::json(200, &sessions(&text)["sessions"][0])
            }
            _ => match id {
                "requires_action" | "confirmed" | "failed" | "processing" => {
                    Reply::json(200, &booking(id, &text))
                }
                "strange" => Reply::json(200, &booking(&text, &text)),
                "refused" => Reply::json(422, &refusal(&text)),
                "uncoded" => {
                    Reply::json(404, &with(refusal(&text), &[("error_code", Value::Null)]))
                }
                _ => Reply::json(500, &json!(text)),
            },
        }
    })
}

fn refusal(text: &str) -> Value {
    let plain = json!({
        "error": "", "error_code": "", "message": "", "field": "", "detail": "", "missing": ["", ""], "reason": "",
        "required_scope": "", "provider": "", "providers_failed": [""], "fields": {"datetime": ""},
        "open_bookings": [{"id": "", "status": ""}], "booking": booking("confirmed", text),
    });
    poisoned(&plain, text)
}

const SEARCH: &str = "search dining --near x --at 2031-12-01T19:30:00Z";

const CALLS: [&str; 22] = [
    "show requires_action",
    "show confirmed",
    "show failed",
    "show strange",
    "show requires_action failed",
    "show refused",
    "show uncoded",
    "show elsewhere",
    "watch failed",
    "watch requires_action",
    "continue requires_action --otp 1",
    "modify confirmed --party 3",
    "modify refused --party 3",
    SEARCH,
    "slots ven_1 --at 2031-12-01T19:30:00Z",
    "session list",
    "session show ses_1",
    "session disconnect ses_1 --yes",
    "card ses_1",
    "status",
    "api GET /v1/bookings/confirmed -i",
    "api POST /v1/bookings/refused",
];

/// What another's sequence begins with.
const THEIRS: [&str; 6] = ["\u{1b}[2J", "\u{1b}]8;", "\u{1b}]52", "\u{9b}", "\u{202e}", "\u{7}"];

/// "Text that came from outside is shown with its control and bidi characters made visible,
/// everywhere." (command line, Output 6)
#[test]
fn no_document_of_the_service_acts_on_a_terminal_in_any_form() {
    let (_server, home) = service(NASTY).beside_home();
    for call in CALLS {
        for form in [&[][..], &["--json"], &["--jq", ".."], &["-v"]] {
            let output = home.run(call.split(' ').chain(form.iter().copied()));
            let what = format!("{call:?} {form:?}");
            is_harmless(&what, &output);
            let said = format!("{}{}", output.stdout, output.stderr);
            // What a card has no place for is in its JSON; what is no document is not repeated.
            let quiet = form.is_empty() || call.contains("elsewhere") || call.starts_with("card");
            if !quiet {
                assert!(said.contains("Evil"), "{what}: {output}");
            }
            if form == ["--json"] {
                let document =
                    if output.stdout.is_empty() { output.error() } else { output.json() };
                // Made visible as JSON spells it, so that a program reads the very same text.
                let whole = document.to_string();
                assert!(quiet || whole.contains(&json!(NASTY).to_string()), "{what}: {output}");
            }
        }
    }
}

/// A name may be as long as an answer: it is shown whole in a pipe and takes no time to speak of.
#[test]
fn names_of_thirty_kilobytes_are_no_trouble() {
    let text = "名\u{1b}[31m ".repeat(30 * 1024 / 9);
    let (_server, home) = service(&text).beside_home();
    for call in
        ["show failed", "show refused --json", SEARCH, "session list --jq .sessions[0].end_user"]
    {
        let output = home.run(words(call));
        is_harmless(&format!("{call:?}"), &output);
        let length = output.stdout.len() + output.stderr.len();
        assert!(length > 30 * 1024, "{call:?}: {length} bytes");
    }
}

/// On a terminal colours are ours; what the service wrote is not.
#[test]
fn on_a_terminal_too_only_our_own_sequences_are_written() {
    let (_server, home) = service(NASTY).beside_home();
    for call in ["show failed", "show refused", SEARCH, "show failed --json", "continue confirmed"]
    {
        let ended = Terminal::of_width(&home, 60, &call.split(' ').collect::<Vec<_>>()).end();
        for theirs in THEIRS {
            let raw = &ended.raw;
            assert!(!raw.contains(theirs), "{call} {theirs:?}: {raw:?}");
        }
        assert!(ended.restored, "{}", ended.screen);
    }
}

/// A pause is asked for in the service's own words: the question holds them, and they are made
/// visible too.
#[test]
fn a_question_in_the_services_words_acts_on_nothing() {
    let plain = json!({
        "id": "bk_1", "object": "booking", "status": "requires_action", "venue_name": NASTY,
        "next_action": {"type": "confirm_details", "message": NASTY, "fields": [NASTY]},
    });
    let (_server, home) = Scripted::with_home(move |_| Reply::json(200, &plain));
    let mut terminal = Terminal::start(&home, &["continue", "bk_1"]);
    terminal.see("?").see("Evil");
    terminal.press(crate::harness::Key::CtrlC);
    let ended = terminal.ends(130);
    for theirs in THEIRS {
        assert!(!ended.raw.contains(theirs), "{theirs:?}: {:?}", ended.raw);
    }
}

/// Headers are text from outside as well.
#[test]
fn a_header_acts_on_nothing() {
    let (_server, home) = Scripted::with_home(|_| {
        Reply::Bytes(
            "HTTP/1.1 200 \u{9b}31mOK\r\nContent-Type: application/json\r\nX-Evil: \u{9b}31m\u{202e}x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
                .to_owned(),
        )
    });
    let output = home.ok(["api", "GET", "/v1/", "-i", "-v"]);
    is_harmless("a header", &output);
    output.shows(r"\u{9b}31m");
    let (_page, home) = Scripted::with_home(|_| {
        Reply::Bytes("HTTP/1.1 200 OK\r\nContent-Type: text/\u{9b}31m\r\nContent-Length: 1\r\nConnection: close\r\n\r\n<".to_owned())
    });
    is_harmless("a content type", &home.run(["show", "bk_1"]).exits(15));
}

/// What a person pasted comes back in the message, and acts on nothing either.
#[test]
fn arguments_are_named_in_errors_without_acting() {
    let home = Home::new();
    let nasty = NASTY.replace('\0', "");
    for line in [
        "NASTY",
        "explain NASTY",
        "help NASTY",
        "show NASTY",
        "api GET NASTY",
        "book --slot NASTY",
        "show bk_1 --profile NASTY",
        "show bk_1 --jq=NASTY",
        "slots v --at NASTY",
        "continue b --psp-response @NASTY",
        "sandbox run -- NASTY",
    ] {
        for form in [None, Some("--json")] {
            let mut arguments = words(line);
            let place = arguments.iter().position(|it| it == "--");
            let place = place.unwrap_or(arguments.len());
            arguments.splice(place..place, form.map(str::to_owned));
            let output = home.run(arguments.iter().map(|it| it.replace("NASTY", &nasty)));
            is_harmless(line, &output);
            assert_ne!(output.code, Some(0), "{output}");
        }
    }
}

#[test]
fn an_id_keeps_all_its_digits_and_one_of_megabytes_is_none() {
    const ID: &str = "123456789012345678901234";
    let text =
        format!("{{\"id\":{ID},\"object\":\"booking\",\"status\":\"confirmed\",\"x\":1.50}}");
    let sent = text.clone();
    let server = Scripted::start(move |_| Reply::Whole(200, "application/json", sent.clone()));
    let home = Home::pointing_to(server.base_url(), "sk_test_hostile_0001");
    home.ok(["show", ID]).prints(ID);
    assert_eq!(server.requests()[0].path, format!("/v1/bookings/{ID}"));
    let output = home.ok(["show", ID, "--json"]);
    assert_eq!(output.stdout.trim_end(), text);
    let home = Home::new().with("BOOKCTL_API_KEY", "sk_test_hostile_0001");
    let home = home.with_profile(
        "acme",
        server.base_url(),
        "[profiles.acme.read]\nbooking = '{id: (\"x\" * 3000000), status}'\n",
    );
    let output = home.run(["show", ID]).exits(15);
    assert!(output.stderr.len() < 1000, "{}", output.stderr.len());
}

#[test]
fn what_a_field_is_called_never_acts_on_the_terminal() {
    let name = format!("{NASTY}\nerror: fake");
    let body = json!({name.as_str(): [{"id": 1}]});
    let server = Scripted::start(move |_| Reply::json(200, &body));
    let home = Home::pointing_to(server.base_url(), "sk_test_hostile_0001");
    let output = home.run(words(SEARCH)).exits(15);
    is_harmless("a list under a name that acts", &output);
    assert!(!output.stderr.contains("\nerror: fake"), "{output}");
}

/// "U+200C and U+200D inside names and emoji stay as they are; characters that hide text are made
/// visible"
#[test]
fn names_of_every_script_are_shown_as_they_are() {
    let home = Home::new();
    let names = [
        "علی\u{200c}رضا محمدی",
        "ශ\u{dca}\u{200d}රී ලංකා",
        "क\u{94d}\u{200d}ष Sharma",
        "Ada 👨\u{200d}👩\u{200d}👧 Lovelace",
        "Ada ❤\u{fe0f} Lovelace",
    ];
    let attacks = [
        ("Ada\u{202e} Lovelace", "\\u{202e}"),
        ("Ada\u{200b} Love\u{200d}lace", "\\u{200d}"),
        ("Ada\u{200b} Love\u{200c}lace", "\\u{200c}"),
        ("Ada Love\u{2060}lace", "\\u{2060}"),
        ("Ada Love\u{feff}lace", "\\u{feff}"),
    ];
    let mut rows = String::new();
    for (day, name) in names.iter().chain(attacks.map(|it| it.0).iter()).enumerate() {
        let day = day + 1;
        rows.push_str(&format!(
            r#"{{"venue_id":"ven_confirms","datetime":"2038-01-{day:02}T19:30:00Z","party_size":2,"customer":{{"name":"{name}"}}}}"#
        ));
        rows.push('\n');
    }
    home.feed(["batch", "-", "--name", "names"], &rows).exits(0);
    let piped = home.ok(["bookings"]);
    let shown = Terminal::of_width(&home, 160, &["bookings"]).ends(0);
    for name in names {
        piped.shows(name);
        assert!(shown.raw.contains(name), "{name}: {}", shown.raw);
    }
    for (name, visible) in attacks {
        assert!(!piped.stdout.contains(name), "{name:?}: {piped}");
        piped.shows(visible);
        assert!(shown.raw.contains(visible), "{visible}: {}", shown.raw);
    }
}
