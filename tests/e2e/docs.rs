//! What the documentation generates from the code is what stands in it. `UPDATE_DOCS=1` writes it
//! anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::explained::codes;
use crate::harness::{Home, text};

/// Puts `generated` between the marks of a document, or compares it with what stands there.
pub(crate) fn check(document: &str, begin: &str, generated: &str) {
    const END: &str = "<!-- end -->";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let text = std::fs::read_to_string(&path).unwrap();
    let start = text.find(begin).expect("the document marks what is generated") + begin.len();
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

/// A table of documents, a row each; the first column is code.
fn table(headings: &[&str], rows: &[Value], fields: &[&str]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut table = line(headings.iter().map(|it| (*it).to_owned()).collect());
    table.push_str(&line(vec!["---".to_owned(); headings.len()]));
    for row in rows {
        let cells = fields.iter().zip(0..).map(|(field, place)| {
            let cell = match &row[*field] {
                Value::String(text) => text.replace('|', "\\|"),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            if place == 0 { format!("`{cell}`") } else { cell }
        });
        table.push_str(&line(cells.collect()));
    }
    table
}

/// What the interface's description names as a code: an `error_code`, an older refusal's `error`, a
/// booking's own code, a status.
fn codes_of_the_interface(node: &Value, found: &mut BTreeSet<String>) {
    let names = |schema: &Value| -> Vec<String> {
        let one = schema["const"].as_str().into_iter();
        let several = schema["enum"].as_array().into_iter().flatten();
        let names = one.chain(several.filter_map(Value::as_str));
        // A sentence is no code.
        let names = names.filter(|name| !name.contains(' '));
        names.map(str::to_owned).collect()
    };
    match node {
        Value::Object(object) => {
            for (key, value) in object {
                if ["error_code", "error", "BookingErrorCode", "BookingStatus"]
                    .contains(&key.as_str())
                {
                    found.extend(names(value));
                }
                // These are open: what is known of them are examples.
                if ["BookingErrorCode", "BookingStatus"].contains(&key.as_str()) {
                    let known = value["examples"].as_array().into_iter().flatten();
                    found.extend(known.filter_map(Value::as_str).map(str::to_owned));
                }
                codes_of_the_interface(value, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| codes_of_the_interface(value, found)),
        _ => {}
    }
}

#[test]
fn every_code_and_status_of_the_interface_is_explained() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/openapi.json");
    let interface = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut named = BTreeSet::new();
    codes_of_the_interface(&interface, &mut named);
    assert!(named.len() > 35, "{named:?}");
    let explained: BTreeSet<String> = codes().iter().map(|row| text(row, "code")).collect();
    let missing: Vec<&String> = named.difference(&explained).collect();
    assert!(missing.is_empty(), "not in the catalog: {missing:?}");
    let statuses = interface["paths"].as_object().unwrap().values();
    let statuses = statuses.flat_map(|path| path.as_object().unwrap().values());
    let statuses = statuses.flat_map(|call| call["responses"].as_object().unwrap().keys());
    for status in statuses.filter(|status| status.as_str() >= "400") {
        let code = format!("http_{status}");
        assert!(explained.contains(&code), "{code} is not explained");
    }
}

/// The documents that people read, as paths in the repository.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["", "docs", "docs/dev", ".github", "packaging/python", "packaging/npm"];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
    let files = files.map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|it| it == "md")).collect()
}

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(document: &str) -> BTreeSet<String> {
    let prose = document.split("```").step_by(2).flat_map(str::lines);
    let titles = prose.filter_map(|line| line.trim_start_matches('#').strip_prefix(' '));
    let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    let anchor = |it: &str| it.to_lowercase().chars().filter(kept).collect::<String>();
    titles.map(|it| anchor(it).replace(' ', "-")).collect()
}

#[test]
fn every_link_of_the_documents_leads_to_a_file_and_a_heading() {
    let mut wrong = Vec::new();
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        let prose: Vec<&str> = text.split("```").step_by(2).collect();
        let prose = prose.concat();
        let links = prose.split("](").skip(1).filter_map(|it| it.split_once(')'));
        for (link, _) in links.filter(|(link, _)| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = match file {
                "" => document.clone(),
                file => document.parent().unwrap().join(file),
            };
            let has_heading = || anchors(&std::fs::read_to_string(&file).unwrap()).contains(anchor);
            if !file.exists() || !anchor.is_empty() && !has_heading() {
                wrong.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn index_links_every_page_for_users() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let index = std::fs::read_to_string(docs.join("README.md")).unwrap();
    for page in documents().iter().filter(|page| page.parent() == Some(&docs)) {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(name == "README.md" || index.contains(&format!("]({name})")), "{name}");
    }
}

/// What bookctl is, in the words of Cargo.toml, wherever somebody meets it first.
#[test]
fn one_sentence_says_what_bookctl_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in [
        "README.md",
        "docs/man/bookctl.1",
        "packaging/Dockerfile",
        "packaging/npm/README.md",
        "packaging/python/README.md",
    ] {
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(env!("CARGO_PKG_DESCRIPTION")), "{file}");
    }
    let help = Home::new().ok(["--help"]).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.starts_with(env!("CARGO_PKG_DESCRIPTION")), "{help}");
}

/// Both pages draw the same states, all of them.
#[test]
fn drawn_states_are_the_statuses_of_a_booking() {
    let [spec, concepts] = ["spec", "concepts"].map(|page| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/{page}.md"));
        let text = std::fs::read_to_string(path).unwrap();
        let (_, drawing) = text.split_once("stateDiagram-v2\n").unwrap();
        drawing.split_once("```").unwrap().0.to_owned()
    });
    assert_eq!(spec, concepts);
    let arrows = spec.lines().filter_map(|line| line.split(':').next()?.split_once("-->"));
    let ends = arrows.flat_map(|(from, to)| [from.trim(), to.trim()]);
    let drawn: BTreeSet<&str> = ends.filter(|end| *end != "[*]").collect();
    let rows = codes();
    let statuses = rows.iter().filter(|row| row["kind"] == "booking status");
    assert_eq!(drawn, statuses.map(|row| row["code"].as_str().unwrap()).collect());
}

#[test]
fn the_tables_of_the_pages_are_those_that_the_program_tells() {
    let home = Home::new();
    for (topic, headings) in [
        ("outcomes", "scenario|what a booking there does"),
        ("exit-codes", "code|meaning|what is certain about the booking"),
        ("environment", "variable|meaning"),
        ("json", "command|field|type|meaning"),
        ("mapping", "key|default|used for"),
    ] {
        let headings: Vec<&str> = headings.split('|').collect();
        let field =
            |name: &&str| name.trim_start_matches("what is certain about ").replace(' ', "_");
        let fields: Vec<String> = headings.iter().map(field).collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let document = home.ok(["help", topic, "--json"]).json();
        let mut rows = document[topic.replace('-', "_")].as_array().unwrap().clone();
        // The page describes `read.KIND` and `write.KIND` in tables of their own.
        rows.retain(|row| {
            let key = row["key"].as_str().unwrap_or_default();
            !key.starts_with("read.") && !key.starts_with("write.")
        });
        let page = match topic {
            "outcomes" => "sandbox",
            "exit-codes" => "errors",
            page => page,
        };
        check(
            &format!("docs/{page}.md"),
            &format!("<!-- generated: bookctl help {topic} --json -->"),
            &table(&headings, &rows, &fields),
        );
    }
    let (headings, fields) =
        (["code", "exit", "meaning", "retry"], ["code", "exit_code", "meaning", "retry"]);
    let errors = table(&headings, &codes(), &fields);
    check("docs/errors.md", "<!-- generated: bookctl explain --json -->", &errors);
}

fn is_whole_second(text: &str) -> bool {
    let at = text.parse::<jiff::Timestamp>();
    at.is_ok_and(|at| at.subsec_nanosecond() == 0 && at.to_string() == text)
}

/// Each field's path with its type, elements of lists under `[]`; what is the service's own is not
/// looked into.
fn fields_of(
    value: &Value,
    path: &str,
    own: &[String],
    found: &mut BTreeSet<(String, &'static str)>,
) {
    let is_leaf = own.iter().any(|it| it == path);
    match value {
        Value::Object(fields) if !is_leaf => {
            for (name, value) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                fields_of(value, &format!("{path}{dot}{name}"), own, found);
            }
        }
        Value::Array(elements) if !is_leaf => {
            let path = format!("{path}[]");
            elements.iter().for_each(|it| fields_of(it, &path, own, found));
        }
        Value::Null => {}
        value => {
            let kind = match value {
                Value::Bool(_) => "true or false",
                Value::Number(_) => "number",
                Value::Array(_) => "list",
                Value::Object(_) => "object",
                Value::String(text) if is_whole_second(text) => "time",
                _ => "text",
            };
            found.insert((path.to_owned(), kind));
        }
    }
}

/// Asserts that a command's document has the fields that `help json` describes: no field more, none
/// less, of that type.
#[track_caller]
pub(crate) fn has_described_fields(home: &Home, command: &str, document: &Value) {
    let table = home.json("help json")["json"].as_array().unwrap().clone();
    let rows = table.iter().filter(|row| text(row, "command") == command);
    let rows: Vec<_> = rows.map(|row| (text(row, "field"), text(row, "type"))).collect();
    let bare = |field: &String| field.replace('?', "");
    let leaves = rows.iter().filter(|it| ["object", "any", "list"].contains(&&*it.1));
    let leaves: Vec<String> = leaves.map(|it| bare(&it.0)).collect();
    let mut found = BTreeSet::new();
    fields_of(document, "", &leaves, &mut found);
    let is_story = |path: &str| path.starts_with("timeline[].");
    for (path, kind) in found.iter().filter(|it| !is_story(&it.0)) {
        let described = rows.iter().find(|row| bare(&row.0) == *path);
        assert_eq!(described.map(|it| it.1.as_str()), Some(*kind), "{command}: {path}");
    }
    let lists_nothing = |field: &str| {
        let list = field.split("[]").next().unwrap().to_owned() + "[]";
        field.contains("[]") && !found.iter().any(|it| it.0.starts_with(&list))
    };
    let required = rows.iter().filter(|row| !row.0.contains('?') && !lists_nothing(&row.0));
    for (field, _) in required {
        assert!(found.iter().any(|it| it.0 == *field), "{command}: {field} is missing");
    }
}

#[test]
fn each_document_has_the_fields_that_are_described() {
    let (home, _) = Home::with_booking("ven_confirms", 0);
    has_described_fields(&home, "--dry-run", &home.json("modify @last --party 3 --dry-run"));
    for command in [
        "attempts list --all",
        "bookings",
        "bookings --refresh",
        "limits",
        "doctor",
        "journal status",
        "profile list",
        "auth status",
        "show @last --timeline",
        "explain",
        "version",
        "bookings forget @last",
    ] {
        let named = command.replace(" --all", "").replace(" @last", "");
        has_described_fields(&home, &named, &home.json(command));
    }
}
