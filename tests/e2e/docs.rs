//! What the documentation generates from the code is what stands in it. `UPDATE_DOCS=1` writes it anew.

use std::path::Path;

use crate::harness::Home;

/// Puts `generated` between the marks of a document, or compares it with what stands there.
fn check(document: &str, begin: &str, generated: &str) {
    const END: &str = "<!-- end -->";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let text = std::fs::read_to_string(&path).unwrap();
    let start = text
        .find(begin)
        .expect("the document marks what is generated")
        + begin.len();
    let end = start + text[start..].find(END).expect("the document marks its end");
    let stands = text[start..end].trim();
    if stands == generated.trim() {
        return;
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let text = format!("{}\n{}\n{}", &text[..start], generated.trim(), &text[end..]);
        std::fs::write(&path, text).unwrap();
        return;
    }
    panic!("{document} has drifted from the code; UPDATE_DOCS=1 cargo test writes it anew");
}

#[test]
fn the_table_of_scenarios_is_the_one_that_the_program_tells() {
    let document = Home::new().run(["help", "sandbox", "--json"]).json();
    let mut table = String::from("| scenario | what a booking there does |\n| --- | --- |\n");
    for row in document["scenarios"].as_array().unwrap() {
        let cell = |field: &str| row[field].as_str().unwrap().replace('|', "\\|");
        let (scenario, does) = (cell("scenario"), cell("what_a_booking_there_does"));
        table.push_str(&format!("| `{scenario}` | {does} |\n"));
    }
    check(
        "docs/sandbox.md",
        "<!-- generated: bookctl help sandbox --json -->",
        &table,
    );
}
