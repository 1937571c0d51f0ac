//! `webhook verify` and `webhook sign`: raw bytes in, 0 or 19 out, and why.

use serde_json::{Value, json};

use crate::docs::has_described_fields;
use crate::harness::listening::{SECRET, home_with_the_secret};
use crate::harness::{Home, Output, Reply, Scripted, Served, has, holds, text};

const T: i64 = 1_795_262_400;
const BODY: &str = r#"{"id":"evt_1","object":"event","type":"booking.confirmed","data":{"object":{"id":"bk_1","object":"booking","status":"confirmed","note":"Café"}}}"#;

/// The header's value for a body, signed at `T`.
fn signature(home: &Home, body: &str) -> String {
    let sign = ["webhook", "sign", "--timestamp", "1795262400", "--json"];
    text(&home.feed(sign, body).exits(0).json(), "value")
}

/// Verifies a body from standard input, so many seconds after it was signed.
fn verify(home: &Home, body: &str, header: &str, later: i64, more: &[&str]) -> Output {
    let now = (T + later).to_string();
    let verify = ["webhook", "verify", "--json", "--now", &now];
    let signed = ["--signature", header];
    home.feed(verify.iter().chain(&signed).chain(more), body)
}

fn cause(output: Output) -> String {
    let error = output.refused(19, "signature");
    assert!(error["message"].is_string(), "{error}");
    assert!(error["hint"].is_string(), "{error}");
    text(&error, "cause")
}

/// A secret is all that it takes: a CI that refuses sandboxes, or whose key came without an
/// address, verifies, too.
#[test]
fn without_service_signature_is_made_and_verified() {
    for (name, value) in [("BOOKCTL_NO_SANDBOX", "1"), ("BOOKCTL_API_KEY", "sk_live_x")] {
        let home = home_with_the_secret().with(name, value);
        let header = signature(&home, BODY);
        verify(&home, BODY, &header, 12, &[]).exits(0);
        home.ok(["attempts", "--json"]);
        home.refuses("webhook events list", 3, "config");
        for about in ["send booking.confirmed --to", "drill"] {
            let line = format!("webhook {about} http://127.0.0.1:9/ --booking bk_1");
            home.refuses(&line, 3, "config");
        }
        let home = Home::new().with(name, value);
        verify(&home, BODY, &header, 12, &[]).refused(3, "no_secret");
        assert!(!home.path().join("sandbox.db").exists());
    }
}

/// Another service on this machine has no secret to tell, whatever it answers.
#[test]
fn service_on_this_computer_no_sandbox_tells_no_secret() {
    for reply in [
        Reply::json(404, &json!({"error": "not found"})),
        Reply::json(200, &json!({"name": "other"})),
        Reply::html(),
    ] {
        let (_service, home) = Scripted::with_home(move |_| reply.clone());
        verify(&home, BODY, "t=1,v1=0", 0, &[]).refused(3, "no_secret");
        home.refuses("webhook listen --port 0", 3, "no_secret");
    }
}

#[test]
fn delivery_that_sandbox_signed_verifies_with_its_own_secret() {
    let (served, home) = Served::with_home();
    let header = signature(&home, BODY);
    let verified = verify(&home, BODY, &header, 12, &[]).exits(0).json();
    has_described_fields(&home, "webhook verify", &verified);
    assert_eq!(verified["verified"], true);
    holds!(verified, {"timestamp": T, "age_seconds": 12});
    // The secret of somebody else is in the environment: it goes first.
    let other = served.home().with("BOOKCTL_WEBHOOK_SECRET", "whsec_other");
    assert_eq!(cause(verify(&other, BODY, &header, 0, &[])), "mismatch");
}

#[test]
fn body_is_raw_bytes_from_a_file_or_standard_input() {
    let home = home_with_the_secret();
    let header = signature(&home, BODY);
    let file = home.folder().join("body");
    std::fs::write(&file, BODY).unwrap();
    let now = T.to_string();
    let verify_file = format!("webhook verify body --signature {header} --now {now}");
    home.ok(verify_file.split(' '));
    std::fs::write(&file, format!("{BODY}\n")).unwrap();
    home.run(verify_file.split(' ')).exits(19);
    // The line that `sign` prints is taken whole.
    let line = format!("Booking-Signature: {header}");
    verify(&home, BODY, &line, 0, &[]).exits(0);
    // Ten days later, without a tolerance, which is said.
    verify(&home, BODY, &header, 864_000, &["--tolerance", "0"])
        .exits(0)
        .says("--tolerance 0 also accepts");
    verify(&home, BODY, &header, -200, &["--tolerance", "3m"]).exits(19);
}

#[test]
fn during_a_rotation_any_secret_and_any_v1_will_do() {
    let home = home_with_the_secret();
    let header = signature(&home, BODY);
    let both = Home::new().with("BOOKCTL_WEBHOOK_SECRET", &format!("whsec_new\n{SECRET}\n"));
    assert_eq!(verify(&both, BODY, &header, 0, &[]).exits(0).json()["secret"], 2);
    let other = format!("t={T},v1={},{}", "0".repeat(64), header.split(',').nth(1).unwrap());
    verify(&home, BODY, &other, 0, &[]).exits(0);

    // From standard input, beside a file.
    std::fs::write(home.folder().join("body"), BODY).unwrap();
    let now = T.to_string();
    let bare = Home::new();
    std::fs::write(bare.folder().join("body"), BODY).unwrap();
    let verify = |body: &str, stdin: &str| {
        let signed = format!("--signature {header} --now {now}");
        let verify = format!("webhook verify {body} --secret-stdin -q {signed}");
        bare.feed(verify.split(' '), stdin)
    };
    verify("body", &format!("whsec_new {SECRET}")).exits(0);
    verify("body", "whsec_new\n").exits(19);
    verify("body", " \n").exits(2).says("no webhook secret on standard input");
    verify("-", SECRET).exits(2);
}

#[test]
fn secret_stored_for_profile_is_found() {
    let served = Served::start();
    let home = Home::new();
    let login = "auth login --key-stdin --webhook-secret-stdin --storage file --profile local";
    let login = login.split(' ').chain(["--base-url", served.base_url()]);
    let secrets = format!("sk_live_sandbox\n{SECRET}\n");
    home.feed(login, &secrets).exits(0);
    let header = signature(&home_with_the_secret(), BODY);
    let profile = ["--profile", "local"];
    verify(&home, BODY, &header, 0, &profile).exits(0);
    let gone = home.with("BOOKCTL_BASE_URL", "https://booking.invalid");
    let error = verify(&gone, BODY, &header, 0, &[]).refused(3, "no_secret");
    assert!(text(&error, "hint").contains("BOOKCTL_WEBHOOK_SECRET"));
}

#[test]
fn cause_is_told_and_with_explain_what_delivery_went_through() {
    let home = home_with_the_secret();
    let right = signature(&home, BODY);
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<Value>(BODY).unwrap()).unwrap();
    let body = |signed: &str, came: &str, word: &'static str| {
        (signature(&home, signed), came.to_owned(), 0, "changed_body", word)
    };
    let header = |header: String, cause: &'static str, word: &'static str| {
        (header, BODY.to_owned(), 0, cause, word)
    };
    let other = Home::new().with("BOOKCTL_WEBHOOK_SECRET", "whsec_other");
    #[rustfmt::skip]
    let cases = [
        body(BODY, &format!("{BODY}\n"), "a line end was added"),
        body(&format!("{BODY}\n"), BODY, "line end after it is missing"),
        body(BODY, &pretty, "without spaces"),
        body(BODY, &BODY.replace('é', "\\u00e9"), "with other escapes"),
        body(BODY, "", "empty"),
        (right.clone(), BODY.to_owned(), 301, "stale", "made 301 s ago"),
        (right.clone(), BODY.to_owned(), -301, "future", "301 s in the future"),
        header(format!("{right},t={T}"), "malformed", "more than one"),
        header(signature(&other, BODY), "mismatch", "another secret"),
    ];
    for (header, came, later, expected, word) in cases {
        let output = verify(&home, &came, &header, later, &["--explain"]);
        let error = output.refused(19, "signature");
        assert_eq!(error["cause"], expected, "{error}\n{header}\n{came}");
        has(&error, "message", word);
    }

    // Milliseconds: it is signed right, and in the year 58,000. What counts seconds does so
    // whatever the time is now.
    for (time, later, expected) in [
        ("1795262400000", 0, "wrong_unit"),
        ("1795262400000000", 0, "wrong_unit"),
        ("1795262400000000000", -T, "wrong_unit"),
        ("1795262400", -T, "future"),
        ("4102444800", 0, "future"),
    ] {
        let sign = ["webhook", "sign", "--timestamp", time, "--jq", ".value"];
        let header = home.feed(sign, BODY).exits(0).stdout;
        let output = verify(&home, BODY, header.trim(), later, &[]);
        assert_eq!(cause(output), expected, "{time}");
    }

    // A secret that the sender read with its line end.
    for (key, word) in [(format!("{SECRET}\n"), "line end"), ("of_the_tests".to_owned(), "prefix")]
    {
        let output = openssl_signed(&home, &key);
        let error = verify(&home, BODY, &output, 0, &["--explain"]).refused(19, "signature");
        assert_eq!(error["cause"], "wrong_secret", "{error}");
        has(&error, "message", word);
    }
}

/// Signed with a key that no secret can be.
fn openssl_signed(home: &Home, key: &str) -> String {
    let file = home.folder().join("signed");
    std::fs::write(&file, format!("{T}.{BODY}")).unwrap();
    let mut command = std::process::Command::new("openssl");
    let hex: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
    command.args(["dgst", "-sha256", "-mac", "HMAC", "-macopt", &format!("hexkey:{hex}")]);
    let output = command.arg(file).output().unwrap();
    let line = String::from_utf8(output.stdout).unwrap();
    format!("t={T},v1={}", line.trim().rsplit(' ').next().unwrap())
}

#[test]
fn arguments_that_say_nothing_and_what_is_no_secret_are_refused() {
    let home = home_with_the_secret();
    for (line, word) in [
        ("verify body", "--signature"),
        ("verify --signature x --tolerance soon", "tolerance"),
        ("verify --signature x --now soon", "1970"),
        ("verify --signature x --now 99999999999999999999", "1970"),
        ("sign --timestamp -1", "-1"),
    ] {
        let error = home.refuses(&format!("webhook {line}"), 2, "usage");
        has(&error, "message", word);
    }
    for secret in [" ", "whsec_\u{e9}"] {
        let home = Home::new().with("BOOKCTL_WEBHOOK_SECRET", secret);
        home.run(["webhook", "sign"]).exits(3).says("BOOKCTL_WEBHOOK_SECRET");
    }
}

#[test]
fn the_header_is_printed_as_a_line_for_curl() {
    let home = home_with_the_secret();
    std::fs::write(home.folder().join("it's"), BODY).unwrap();
    let sign = ["webhook", "sign", "it's", "--timestamp", "1795262400", "-q"];
    let header = signature(&home, BODY);
    let printed = home.ok(sign).stdout;
    assert_eq!(printed, format!("Booking-Signature: {header}\n"));
    let document = home.feed(["webhook", "sign", "--json"], BODY).exits(0).json();
    has_described_fields(&home, "webhook sign", &document);
    holds!(document, {"header": "Booking-Signature", "body": BODY});
}

#[test]
fn no_secret_is_seen_in_what_verbose_shows() {
    let output = Home::new().feed(["webhook", "sign", "--verbose"], BODY).exits(0);
    assert!(!output.stderr.contains("whsec_"), "{output}");
}
