use proptest::prelude::*;

use serde_json::json;

use super::*;
use crate::arbitrary;
use crate::outcome::Exit;

const JSON: &str = r#"{"venue_id":"v","datetime":"2026-12-01T19:30:00Z","party_size":2,"customer":{"name":"Ada Lovelace","phone":"+44"}}"#;

fn csv(text: &str) -> Result<Vec<BatchRow>> {
    read_rows("rows.csv", text, &["notes".to_owned()])
}

fn json(text: &str) -> Result<Vec<BatchRow>> {
    read_rows("rows.jsonl", text, &["notes".to_owned()])
}

fn describe(error: &Error) -> String {
    format!("{}\n{}", error.message, error.details.join("\n"))
}

#[test]
fn row_that_cannot_be_meant_is_named() {
    for (from, to, why) in [
        ("\"party_size\":2", "\"party_size\":0", "party_size must be a whole number"),
        ("\"party_size\":2", "\"party_size\":\"2\"", "party_size must be a whole number"),
        ("\"party_size\":2", "\"party_size\":6,\"party_size\":2", "duplicate field `party_size`"),
        ("venue_id", "venue", "unknown field `venue`"),
        ("\"v\"", "[]", "venue_id must be an id, not []"),
        ("2026-12-01T19:30:00Z", "tomorrow", "datetime must be a time, e.g."),
        ("Ada Lovelace", " ", "customer.name is missing"),
        ("\"name\":", "\"name\":\"Eve\",\"name\":", "duplicate field `customer.name`"),
        ("\"+44\"", "44", "customer.phone must be a phone number"),
        ("+44", "4.47911E+11", "customer.phone must be a phone number"),
        ("2026-12-01T19:30:00Z", "2026-12-01", "datetime must be a time, e.g."),
        (JSON, "{", "it is not valid JSON at column 1"),
        ("\"+44\"}}", "\"+44\"}} {}", "it is not valid JSON at column"),
        (JSON, "[\"v\"]", "it is not a JSON object"),
    ] {
        let row = JSON.replace(from, to);
        let error = json(&format!("{JSON}\n{row}\n")).err();
        let reported = error.map(|error| describe(&error)).unwrap_or_default();
        assert!(reported.contains("row 2 (line 2)"), "{row}: {reported}");
        assert!(reported.contains(why), "{row}: {reported}");
    }
}

#[test]
fn a_csv_that_is_out_of_shape_is_refused() {
    for (text, why) in [
        ("venue_id,venue_id\n", "duplicate column `venue_id`"),
        ("venue_id,datetime\nv\n", "1 columns"),
        ("venue_id,guest\nv,x\n", "header: unknown column `guest`; the columns are venue_id"),
        ("venue_id,\nv,x\n", "\"x\" has no name in the header"),
        ("customer.name\n\"Ada\n\"Grace\"\n\"Hedy\n", "row 1 (line 2): a quote is not closed"),
        ("customer.name\n\"Ada", "row 1 (line 2): a quote is not closed"),
    ] {
        let reported = describe(&csv(text).unwrap_err());
        assert!(reported.contains(why), "{text}: {reported}");
    }
}

#[test]
fn spreadsheet_in_any_of_its_forms_is_same_rows_as_json_lines() {
    let text = "venue_id,datetime,party_size,customer.name,customer.phone\n\
                v,2026-12-01T19:30:00Z,2,Ada Lovelace,+44\n\
                v,2026-12-02T19:30:00Z,2,\"Hopper; Grace\",\n";
    let rows = csv(text).unwrap();
    assert_eq!(json(&format!("\n{JSON}\n\n")).unwrap(), rows[..1]);
    let semicolons =
        text.replace("Hopper; Grace", "#").replace(',', ";").replace('#', "Hopper; Grace");
    for other in [
        text.replace(',', "\t"),
        text.replace('\n', "\r\n"),
        text.replace('\n', "\r"),
        text.replace("venue_id,datetime", "  Venue_ID , DateTime"),
        text.replace('\n', ",,\n"),
        format!("sep=;\n{semicolons}"),
        semicolons,
        text.replace('\n', ",\n").replace("phone,", "phone,notes"),
        format!("\n{text},,,,\n\n"),
    ] {
        assert_eq!(csv(&other).unwrap(), rows, "{other}");
    }
}

#[test]
fn each_mistake_names_its_line_for_each_line_ending() {
    let text = "venue_id;datetime;party_size;customer.name\n\
               v;27/11/2026 18:00;2;Ada Lovelace\n\n\
               v;2026-12-01T19:30:00Z;0;\n\
               v;2026-12-01T19:30:00Z\n";
    for end in ["\n", "\r\n", "\r"] {
        let error = csv(&text.replace('\n', end)).unwrap_err();
        assert_eq!(
            describe(&error),
            "the batch has 4 mistakes; nothing was sent\n\
             row 1 (line 2): datetime must be a time, e.g. 2026-12-01 19:30 or \
             2026-12-01T19:30:00+01:00, not \"27/11/2026 18:00\"\n\
             row 2 (line 4): party_size must be a whole number from 1, not 0\n\
             row 2 (line 4): customer.name is missing\n\
             row 3 (line 5): it has 2 columns, but the header has 4",
        );
        assert_eq!(
            error.to_json().value()["problems"][1],
            json!({"row": 2, "line": 4, "field": "party_size", "value": 0,
                "message": "party_size must be a whole number from 1, not 0"})
        );
    }
    let error = json(&"{}\n".repeat(10)).unwrap_err();
    assert_eq!((error.details.len(), error.problems.len()), (21, 20));
    assert_eq!(error.details[20], "and 20 more");
}

proptest! {
    /// Whatever is in the file: rows that can be sent as they are, or one sentence.
    #[test]
    fn any_file_becomes_rows_or_one_sentence(
        text in prop_oneof![
            any::<String>(),
            arbitrary::made_of(&[
                "venue_id", ",", "datetime", "party_size", "customer.name", "customer", "\n", "\r\n", "\"", "v",
                "2026-12-01T19:30:00Z", "2", "Ada", "{", "}", ":", "\u{feff}", "\0",
            ]),
            arbitrary::json().prop_map(|row| row.to_string()),
        ],
    ) {
        for rows in [json(&text), csv(&text)] {
            match rows {
                Ok(rows) => for row in rows {
                    prop_assert!(row.body["party_size"].as_u64() > Some(0), "{:?}", row);
                },
                Err(error) => prop_assert_eq!(error.exit, Exit::Usage),
            }
        }
    }
}
