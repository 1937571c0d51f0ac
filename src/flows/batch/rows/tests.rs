use proptest::prelude::*;

use serde_json::json;

use super::*;
use crate::arbitrary;
use crate::outcome::Exit;

const JSON: &str = r#"{"venue_id":"v","datetime":"2026-12-01T19:30:00Z","party_size":2,"customer":{"name":"Ada Lovelace","phone":"+44"}}"#;

fn read_rows(text: &str, format: BatchFormat) -> Result<Vec<BatchRow>> {
    super::read_rows(text, format, false)
}

fn told(error: &Error) -> String {
    format!("{}\n{}", error.message, error.details.join("\n"))
}

#[test]
fn csv_and_json_lines_of_the_same_content_are_the_same_rows() {
    let csv = "venue_id, datetime,party_size,customer.name,customer.email,customer.phone\r\n\
               v,2026-12-01T19:30:00Z,2,Ada Lovelace,,+44\r\n";
    assert_eq!(
        read_rows(csv, BatchFormat::Csv).unwrap(),
        read_rows(&format!("\n{JSON}\n\n"), BatchFormat::JsonLines).unwrap()
    );
}

#[test]
fn a_row_that_cannot_be_meant_is_named_and_nothing_is_read_past_it() {
    for (row, why) in [
        (
            JSON.replace("\"party_size\":2", "\"party_size\":0"),
            "party_size must be a whole number",
        ),
        (
            JSON.replace("\"party_size\":2", "\"party_size\":\"2\""),
            "party_size",
        ),
        (JSON.replace("venue_id", "venue"), "unknown field venue;"),
        (
            JSON.replace("2026-12-01T19:30:00Z", "tomorrow"),
            "\"tomorrow\" is not valid",
        ),
        (
            JSON.replace("Ada Lovelace", " "),
            "customer.name is missing",
        ),
        ("{".to_owned(), "EOF"),
        (
            JSON.replace("\"party_size\":2", "\"party_size\":6,\"party_size\":2"),
            "party_size appears twice",
        ),
        (
            JSON.replace("\"name\":", "\"name\":\"Eve\",\"name\":"),
            "name appears twice",
        ),
    ] {
        let error = read_rows(&format!("{JSON}\n{row}\n"), BatchFormat::JsonLines).err();
        let told = error.map(|error| told(&error)).unwrap_or_default();
        assert!(
            told.contains("row 2 (line 2)") && told.contains(why),
            "{row}: {told}"
        );
    }
}

#[test]
fn a_csv_that_is_out_of_shape_is_refused() {
    for (text, why) in [
        ("venue_id,venue_id\n", "twice"),
        ("venue_id,datetime\nv\n", "1 columns"),
        (
            "venue_id,guest\nv,x\n",
            "unknown column guest; did you mean customer.name? known columns: venue_id,",
        ),
        ("venue_id,\nv,x\n", "\"x\" has no name in the header"),
        ("venue_id\nv\"x\n", "a quote in the middle of a value"),
        ("venue_id,customer.name\nv,\"Ada Lov", "is not closed"),
        (
            "customer.name,venue_id\n\"Ada,v\n\"Grace\",v\n\"Hedy,v\n",
            "(line 3): a value goes on after its closing quote",
        ),
    ] {
        let told = told(&read_rows(text, BatchFormat::Csv).unwrap_err());
        assert!(told.contains(why), "{text}: {told}");
    }
}

#[test]
fn a_spreadsheet_in_any_of_its_forms_is_the_same_rows() {
    let csv = "venue_id,datetime,party_size,customer.name\n\
               v,2026-12-01T19:30:00Z,2,Ada Lovelace\n\
               v,2026-12-02T19:30:00Z,2,\"Hopper; Grace\"\n";
    let rows = read_rows(csv, BatchFormat::Csv).unwrap();
    for other in [
        csv.replace("Hopper; Grace", "#")
            .replace(',', ";")
            .replace('#', "Hopper; Grace"),
        csv.replace(',', "\t"),
        csv.replace('\n', "\r\n"),
        csv.replace('\n', "\r"),
        csv.replace("venue_id,datetime", "  Venue_ID , DateTime"),
        csv.replace('\n', ",,\n"),
        format!("\n{csv},,,\n;;;\n").replace(";;;\n", ",,,\n\n"),
    ] {
        assert_eq!(
            read_rows(&other, BatchFormat::Csv).unwrap(),
            rows,
            "{other}"
        );
    }
    let broken = csv.replace("Hopper; Grace", "Grace\r\nHopper");
    let rows = read_rows(&broken, BatchFormat::Csv).unwrap();
    assert_eq!(rows[1].body["customer"]["name"], "Grace\nHopper");
}

#[test]
fn every_mistake_is_told_with_its_line_whatever_ends_the_lines() {
    let csv = "venue_id;datetime;party_size;customer.name\n\
               v;27/11/2026 18:00;2;Ada Lovelace\n\n\
               v;2026-12-01T19:30:00Z;0;\"Grace\nHopper\"\n\
               v;2026-12-01T19:30:00Z;2;\n\
               v;2026-12-01T19:30:00Z\n";
    for end in ["\n", "\r\n", "\r"] {
        let text = csv.replace('\n', end);
        let error = read_rows(&text, BatchFormat::Csv).unwrap_err();
        assert_eq!(
            told(&error),
            "the batch has 4 mistakes; nothing was sent\n\
             row 1 (line 2): datetime \"27/11/2026 18:00\" is not valid; use a time with an offset, e.g. \
             2026-11-27T18:00:00+00:00\n\
             row 2 (line 4): party_size must be a whole number from 1, not 0\n\
             row 3 (line 6): customer.name is missing\n\
             row 4 (line 7): it has 2 columns, but the header has 4",
        );
        assert_eq!(
            error.to_json()["error"]["problems"][1],
            json!({"row": 2, "line": 4, "field": "party_size", "value": 0,
                "message": "party_size must be a whole number from 1, not 0"})
        );
    }
}

#[test]
fn of_many_mistakes_the_first_are_written_out_and_the_others_counted() {
    let error = read_rows(&"{}\n".repeat(10), BatchFormat::JsonLines).unwrap_err();
    assert_eq!(error.details.len(), 21);
    assert_eq!(error.details[20], "and 20 more");
    assert_eq!(error.problems.len(), 20);
}

#[test]
fn a_batch_without_a_row_is_refused() {
    for (text, format) in [
        ("", BatchFormat::Csv),
        (
            "venue_id,datetime,party_size,customer.name\n",
            BatchFormat::Csv,
        ),
        ("\n \n", BatchFormat::JsonLines),
    ] {
        let error = read_rows(text, format).unwrap_err();
        assert!(error.message.contains("has no rows"), "{}", error.message);
    }
}

#[test]
fn one_key_for_two_rows_is_refused_before_anything_is_sent() {
    let with_key = JSON.replace("{\"venue_id\"", "{\"idempotency_key\":\"k\",\"venue_id\"");
    let other = with_key.replace("\"party_size\":2", "\"party_size\":3");
    for other in [&with_key, &other] {
        let both = format!("{with_key}\n{other}");
        assert!(read_rows(&both, BatchFormat::JsonLines).is_err());
    }
}

#[test]
fn rows_that_follow_each_other_are_told_as_a_range() {
    assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3, 7, 9-10");
    assert_eq!(ranges(&[4]), "4");
}

proptest! {
    /// Whatever is in the file: rows that can be sent as they are, or one sentence.
    #[test]
    fn whatever_stands_in_a_file_becomes_rows_or_one_sentence(
        text in prop_oneof![
            any::<String>(),
            arbitrary::made_of(&[
                "venue_id", ",", "datetime", "party_size", "customer.name", "customer", "\n", "\r\n", "\"", "v",
                "2026-12-01T19:30:00Z", "2", "Ada", "{", "}", ":", "\u{feff}", "\0",
            ]),
            arbitrary::json().prop_map(|row| row.to_string()),
        ],
    ) {
        for format in [BatchFormat::JsonLines, BatchFormat::Csv] {
            match read_rows(&text, format) {
                Ok(rows) => for row in rows {
                    prop_assert!(row.body["party_size"].as_u64() > Some(0), "{:?}", row);
                },
                Err(error) => prop_assert_eq!(error.exit, Exit::Usage),
            }
        }
    }

    #[test]
    fn a_guest_of_any_name_comes_through_csv_as_through_json(name in "[^\\s]\\PC{0,30}[^\\s]") {
        let quoted = name.replace('"', "\"\"");
        let csv = format!(
            "venue_id,datetime,party_size,customer.name\nv,2026-12-01T19:30:00Z,2,\"{quoted}\"\n"
        );
        let json = json!({"venue_id": "v", "datetime": "2026-12-01T19:30:00Z", "party_size": 2, "customer": {"name": name}});
        prop_assert_eq!(
            read_rows(&csv, BatchFormat::Csv).map_err(|error| TestCaseError::fail(error.message.clone()))?,
            read_rows(&json.to_string(), BatchFormat::JsonLines).map_err(|error| TestCaseError::fail(error.message.clone()))?
        );
    }
}
