//! Scripts as people write them, each with a failure on its way.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Home, Output, Running};

/// Runs a script by a program, which finds bookctl by its name; `None` where the program is not
/// there.
fn script(home: &Home, program: &[&str], text: &str) -> Option<Output> {
    let folder = Path::new(env!("CARGO_BIN_EXE_bookctl")).parent()?.to_str()?;
    let path = format!("{folder}:{}", std::env::var("PATH").ok()?);
    let finds = Command::new("sh").args(["-c", "command -v \"$1\"", "sh", program[0]]).output();
    if !finds.ok()?.status.success() {
        return None;
    }
    let mut command = home.program(program[0]);
    command.args(&program[1..]).arg(text).env("PATH", path).stdin(Stdio::null());
    Some(Running::start(command).end())
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What stands in the docs: safe under `set -e`, with all that may be booked in one arm.
const RESERVE: &str = r#"rc=0; id=$(bookctl book "$venue" --at 'tomorrow 19:30' --party 2 --name 'Ada Lovelace' --jq .id) || rc=$?
case $rc in
  0) echo confirmed ;; 8) echo processing ;; 10) echo waiting ;; 11) echo ended ;; 6|7) echo rejected ;;
  9|13|14|15) echo later ;; 2|3|4|5|12|17) echo fix ;; *) echo maybe ;;
esac"#;

const BOOK: &str =
    "bookctl book ven_confirms --at 'tomorrow 19:30' --party 2 --name 'Ada Lovelace' -q";

#[test]
fn scripts_of_ten_kinds_end_right_when_a_request_fails() {
    let create = "POST /v1/bookings";
    let reserve = |venue: &str| format!("venue={venue}; {RESERVE}");
    let python = format!(
        "import json, subprocess\nended = subprocess.run({:?}, shell=True, capture_output=True, text=True)\n\
         print(ended.returncode, json.loads(ended.stderr.splitlines()[-1])['error']['retry'])",
        format!("{BOOK} --json")
    );
    let numbers = |count: u32| format!("seq {count} | xargs -d '\\n' -P 4 -I{{}}");
    let each = "bookctl book ven_confirms --at 'tomorrow 19:30' --party 2 --idempotency-key o-{} --name 'Guest No{}' --jq .status -q";
    #[rustfmt::skip]
    let cases: [(&[&str], &str, u32, String, &str); 14] = [
        (&["bash", "-euo", "pipefail", "-c"], "drop_after", 3, reserve("ven_confirms"), "maybe\n"),
        (&["bash", "-euo", "pipefail", "-c"], "", 0, reserve("ven_otp"), "waiting\n"),
        (&["sh", "-ec"], "drop_before", 3, reserve("ven_confirms"), "maybe\n"),
        (&["sh", "-ec"], "", 0, reserve("ven_no_slots"), "rejected\n"),
        (&["sh", "-ec"], "503", 3, reserve("ven_confirms"), "maybe\n"),
        (&["bash", "-euo", "pipefail", "-c"], "429", 1, reserve("ven_confirms"), "later\n"),
        (&["fish", "-c"], "truncate", 3, format!("{BOOK} --json >/dev/null 2>&1; echo $status"), "16\n"),
        (&["python3", "-c"], "garbage", 3, python, "16 after_check\n"),
        (&["sh", "-c"], "drop_after", 1,
            format!("cat > Makefile <<'EOF'\nall: a b\na b:\n\t@{BOOK} --idempotency-key $@ --jq .status\nEOF\nmake -sj2 2>/dev/null | sort | uniq -c | tr -s ' '"),
            " 2 confirmed\n"),
        (&["sh", "-c"], "500", 3,
            format!("env -i PATH=\"$PATH\" BOOKCTL_HOME=\"$BOOKCTL_HOME\" sh -c {}", quoted(&format!("{BOOK} --json 2>&1 >/dev/null | grep -c '\"retry\":\"after_check\"'"))),
            "1\n"),
        (&["sh", "-c"], "", 0,
            "bookctl sandbox run -- bash -e -c 'rc=0; bookctl book ven_provider_fails --at \"tomorrow 19:30\" --party 2 --name \"Ada Lovelace\" --jq .status || rc=$?; echo $rc' 2>/dev/null".to_owned(),
            "failed\n11\n"),
        (&["sh", "-c"], "drop_after", 2,
            format!("{} {each} 2>/dev/null | sort | uniq -c | tr -s ' '", numbers(8)), " 8 confirmed\n"),
        (&["sh", "-c"], "delay", 1,
            format!("seq 3 | while read -r n; do {BOOK} --idempotency-key w-$n --jq .status; done"), "confirmed\nconfirmed\nconfirmed\n"),
        (&["sh", "-c"], "", 0,
            "printf 'venue_id,datetime,party_size,customer.name\\nven_confirms,2030-11-28 19:30,2,Ada Lovelace\\nven_nope,2030-11-28 19:30,2,Hedy Lamarr\\n' > f.csv
             bookctl batch f.csv -q --json >/dev/null 2>err; echo $?; tail -1 err | grep -o '\"partly_failed\"'
             bookctl batch f.csv --results --jq 'select(.error) | \"\\(.row) \\(.error.retry)\"' 2>/dev/null
             sed -i s/ven_nope/ven_confirms/ f.csv; bookctl batch f.csv -q --jq .exit_code; bookctl bookings --jq '.bookings | length' -q".to_owned(),
            "18\n\"partly_failed\"\n2 no\n0\n0\n2\n"),
    ];
    for (program, kind, times, text, expected) in cases {
        let home = Home::new().with("BOOKCTL_SANDBOX_NO_LIMITS", "1");
        if !kind.is_empty() {
            let times = times.to_string();
            let how: &[&str] = match kind {
                "delay" => &["delay", "--delay", "100ms"],
                "429" | "500" | "503" => &["status", "--status", kind],
                _ => &[kind],
            };
            let fault = ["sandbox", "faults", "add", "--on", create, "--times", &times, "--kind"];
            home.ok(fault.iter().chain(how));
        }
        if let Some(ended) = script(&home, program, &text) {
            assert_eq!(ended.stdout, expected, "{program:?} with {kind}: {text}\n{ended}");
        }
    }
}

/// A code belongs to its booking: scripts that run at the same time do not take each other's.
#[test]
fn codes_are_read_by_booking_when_scripts_run_together() {
    let home = Home::new().with("BOOKCTL_SANDBOX_NO_LIMITS", "1");
    let one =
        "id=$(bookctl book ven_otp --at 'tomorrow 19:30' --party 2 --name \"Guest No$1\" --jq .id -q)
        code=$(bookctl sandbox inbox --booking \"$id\" --jq '.messages[0].code')
        bookctl continue \"$id\" --otp \"$code\" --jq .status -q";
    let all =
        format!("seq 8 | xargs -P 8 -n 1 sh -c {} sh | sort | uniq -c | tr -s ' '", quoted(one));
    if let Some(ended) = script(&home, &["sh", "-c"], &all) {
        assert_eq!(ended.stdout, " 8 confirmed\n", "{ended}");
    }
}
