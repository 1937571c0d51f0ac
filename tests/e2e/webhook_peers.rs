//! Signatures as implementations make them that nobody here wrote, both ways: Stripe's libraries
//! for Python and Node, and openssl.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Home, skipped};

const SECRET: &str = "whsec_ofThePeers+/=0123456789";
const T: &str = "1795262400";
const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers");

fn home() -> Home {
    Home::new().with("BOOKCTL_WEBHOOK_SECRET", SECRET)
}

/// What a command makes of this on its standard input; why there is nothing.
fn output_of(mut command: Command, input: &[u8]) -> Result<Vec<u8>, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = command.spawn();
    let mut child = started.map_err(|error| format!("{command:?} cannot be run: {error}"))?;
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// A body that both sides are given.
struct Body {
    file: PathBuf,
    what: &'static str,
    is_text: bool,
}

/// Bodies of every kind; 100 MB where that was asked for.
fn bodies(home: &Home) -> Vec<Body> {
    std::fs::create_dir_all(home.folder()).unwrap();
    let every_byte: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let line = "{\"id\":\"evt_1\",\"note\":\"満席 – 🌿\"}\n".repeat(3_000_000);
    #[rustfmt::skip]
    let bodies: [(&'static str, Vec<u8>); 9] = [
        ("empty", Vec::new()),
        ("event", br#"{"id":"evt_1","data":{"object":{"status":"confirmed"}}}"#.to_vec()),
        ("text", "Zoë 山田\r\nΣ\u{0}\u{7f}\u{2028}👩‍🍳\n".as_bytes().to_vec()),
        ("line ends", b"\n\r\n\n".to_vec()),
        ("latin", b"caf\xe9".to_vec()),
        ("cut UTF-8", b"\xf0\x9f\x8c".to_vec()),
        ("surrogate", b"\xed\xa0\x80".to_vec()),
        ("binary", every_byte),
        ("100 MB", line.into_bytes()),
    ];
    assert!(bodies[8].1.len() > 100_000_000);
    let kept = bodies.into_iter().enumerate().map(|(place, (what, bytes))| {
        let file = home.folder().join(format!("body-{place}"));
        let is_text = std::str::from_utf8(&bytes).is_ok();
        std::fs::write(&file, bytes).unwrap();
        Body { file, what, is_text }
    });
    kept.collect()
}

fn signed(home: &Home, body: &Body) -> String {
    let file = body.file.to_str().unwrap();
    let sign = format!("webhook sign {file} --timestamp {T} --jq .value");
    let signed = home.ok(sign.split(' '));
    signed.stdout.trim().to_owned()
}

fn verifies(home: &Home, body: &Body, header: &str, code: i32) {
    let file = body.file.to_str().unwrap();
    let verify = format!("webhook verify {file} --signature {header} --now {T} -q");
    home.run(verify.split(' ')).exits(code);
}

/// Every body, signed here and verified there, and the other way round.
fn agrees(peer: impl Fn() -> Command) {
    let home = home();
    let bodies = bodies(&home);
    let ours: Vec<String> = bodies.iter().map(|body| signed(&home, body)).collect();
    let mut jobs = Vec::new();
    for (body, header) in bodies.iter().zip(&ours) {
        let forged = header.replacen("v1=", "v1=0", 1);
        jobs.push(json!({"secret": SECRET, "body": body.file, "t": T.parse::<u64>().unwrap()}));
        jobs.push(json!({"secret": SECRET, "body": body.file, "header": header}));
        jobs.push(
            json!({"secret": SECRET, "body": body.file, "header": &forged[..forged.len() - 1]}),
        );
    }
    let results = output_of(peer(), json!(jobs).to_string().as_bytes()).unwrap();
    let results: Vec<Value> = serde_json::from_slice(&results).unwrap();
    for ((body, ours), theirs) in bodies.iter().zip(&ours).zip(results.chunks(3)) {
        let what = body.what;
        assert_ne!(theirs[2], true, "{what}: a forgery is accepted");
        if !body.is_text {
            // Their libraries sign texts alone: nothing else is accepted, however it is signed.
            assert_eq!(theirs[0], Value::Null, "{what}");
            assert_ne!(theirs[1], true, "{what}");
            continue;
        }
        assert_eq!(theirs[0], Value::from(ours.as_str()), "{what}");
        assert_eq!(theirs[1], true, "{what}");
        verifies(&home, body, ours, 0);
    }
}

/// `BOOKCTL_TEST_PYTHON` names another Python than `python3`.
#[test]
#[ignore = "needs other languages' clients"]
fn stripes_library_for_python_signs_same_and_accepts_same() {
    let python = std::env::var("BOOKCTL_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let peer = || {
        let mut command = Command::new(&python);
        command.arg(format!("{PEERS}/signatures.py"));
        command
    };
    match output_of(peer(), b"[]") {
        Ok(_) => agrees(peer),
        Err(_) => skipped(&format!(
            "{python} has no module stripe: pip install -r tests/peers/requirements.txt"
        )),
    }
}

/// What is no text, too.
#[test]
#[ignore = "needs other languages' clients"]
fn openssl_makes_the_same_signature_of_every_body() {
    let home = home();
    let digest = |body: &[u8]| {
        let mut command = Command::new("openssl");
        command.args(["dgst", "-sha256", "-hmac", SECRET]);
        output_of(command, &[T.as_bytes(), b".", body].concat())
    };
    if let Err(why) = digest(b"") {
        return skipped(&why);
    }
    for body in bodies(&home) {
        let bytes = std::fs::read(&body.file).unwrap();
        let line = String::from_utf8(digest(&bytes).unwrap()).unwrap();
        let theirs = format!("t={T},v1={}", line.trim().rsplit(' ').next().unwrap());
        assert_eq!(signed(&home, &body), theirs, "{}", body.what);
        verifies(&home, &body, &theirs, 0);
        let other = if theirs.ends_with('0') { "1" } else { "0" };
        let forged = format!("{}{other}", &theirs[..theirs.len() - 1]);
        verifies(&home, &body, &forged, 19);
    }
}
