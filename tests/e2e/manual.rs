//! The manual pages in docs/man: made from the commands themselves. `UPDATE_DOCS=1` writes them
//! anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command as Program;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::harness::{Home, skipped, text};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/man")
}

/// Every page by its file's name.
fn pages() -> BTreeMap<String, String> {
    let mut root = bookctl::command();
    root.build();
    let mut pages = BTreeMap::new();
    add_page(&root, &[], &mut pages);
    pages
}

fn add_page(command: &Command, above: &[&Command], pages: &mut BTreeMap<String, String>) {
    let name = full_name(command);
    pages.insert(format!("{name}.1"), page(command, above));
    let path: Vec<&Command> = above.iter().copied().chain([command]).collect();
    for below in command.get_subcommands() {
        add_page(below, &path, pages);
    }
}

/// `bookctl-sandbox-clock`.
fn full_name(command: &Command) -> String {
    let name = command.get_display_name();
    name.unwrap_or_else(|| command.get_name()).to_owned()
}

fn page(command: &Command, above: &[&Command]) -> String {
    let is_root = above.is_empty();
    // What every command takes stands on the first page alone.
    let own = command.clone().mut_args(|arg| match arg.is_global_set() && !is_root {
        true => arg.hide(true),
        false => arg,
    });
    let man = Man::new(own);
    // Without a date, so that a page changes where its command does; an empty one has to be written
    // out.
    let mut page = format!(
        ".TH {} 1 \"\" \"bookctl {}\" \"bookctl manual\"\n",
        full_name(command).to_uppercase().replace('-', "\\-"),
        env!("CARGO_PKG_VERSION"),
    )
    .into_bytes();
    man.render_name_section(&mut page).unwrap();
    man.render_synopsis_section(&mut page).unwrap();
    man.render_description_section(&mut page).unwrap();
    man.render_options_section(&mut page).unwrap();
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page).unwrap();
    }
    let mut roff = Roff::default();
    if is_root {
        tables(&mut roff);
    }
    if let Some(help) = command.get_after_help() {
        after_help(&mut roff, &help.to_string());
    }
    see_also(&mut roff, command, above);
    page.extend(roff.render().into_bytes());
    String::from_utf8(page).unwrap()
}

/// The tables that the program itself tells: what a script sees of how it ended, and what it reads.
fn tables(roff: &mut Roff) {
    #[rustfmt::skip]
    let cases = [
        ("EXIT STATUS", "exit-codes", "exit_codes", ["code", "meaning"]),
        ("ENVIRONMENT", "environment", "environment", ["variable", "meaning"]),
    ];
    for (heading, topic, field, columns) in cases {
        let document = Home::new().ok(["help", topic, "--json"]).json();
        roff.control("SH", [heading]);
        for row in document[field].as_array().unwrap() {
            roff.control("TP", []);
            roff.text([bold(text(row, columns[0]))]);
            roff.text([roman(text(row, columns[1]))]);
        }
    }
}

/// A paragraph with a heading and indented lines is a section of lines as they stand; any other is
/// text.
fn after_help(roff: &mut Roff, help: &str) {
    for paragraph in help.split("\n\n") {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        if rest.is_empty() {
            roff.control("SH", ["NOTES"]);
            roff.text([roman(first)]);
            continue;
        }
        roff.control("SH", [first.trim_end_matches(':').to_uppercase().as_str()]);
        roff.control("EX", []);
        for line in rest.lines() {
            roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
        roff.control("EE", []);
    }
}

fn see_also(roff: &mut Roff, command: &Command, above: &[&Command]) {
    let others = above.iter().copied().chain(command.get_subcommands());
    let others: Vec<String> = others.map(|it| format!("{}(1)", full_name(it))).collect();
    if others.is_empty() {
        return;
    }
    roff.control("SH", ["SEE ALSO"]);
    roff.text([roman(others.join(", "))]);
    if !above.is_empty() {
        roff.control("PP", []);
        let elsewhere = "The options that every command takes, the exit codes and the environment are in bookctl(1).";
        roff.text([roman(elsewhere)]);
    }
}

#[test]
fn manual_has_page_for_every_command_and_says_what_help_says() {
    let pages = pages();
    let stored = || -> BTreeMap<String, String> {
        let files = std::fs::read_dir(folder()).into_iter().flatten();
        let files = files.map(|file| file.unwrap());
        files
            .map(|file| {
                let text = std::fs::read_to_string(file.path()).unwrap();
                (file.file_name().into_string().unwrap(), text)
            })
            .collect()
    };
    if std::env::var_os("UPDATE_DOCS").is_some() && stored() != pages {
        let _ = std::fs::remove_dir_all(folder());
        std::fs::create_dir_all(folder()).unwrap();
        for (name, page) in &pages {
            std::fs::write(folder().join(name), page).unwrap();
        }
    }
    let stored = stored();
    let names = pages.keys().chain(stored.keys());
    let drifted: Vec<&String> =
        names.filter(|name| pages.get(*name) != stored.get(*name)).collect();
    assert!(
        drifted.is_empty(),
        "the manual has drifted from the commands; UPDATE_DOCS=1 cargo test writes it anew: {drifted:#?}"
    );
}

/// Where there is a program that reads manual pages, it has nothing against these.
#[test]
fn every_page_is_read_without_a_warning() {
    // Those in docs/man may be written just now.
    let own = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (name, page) in pages() {
        let file = own.path().join(name);
        std::fs::write(&file, page).unwrap();
        files.push(file);
    }
    let mut groff = Program::new("groff");
    groff.args(["-k", "-man", "-Tutf8", "-ww", "-z"]).args(&files);
    let mut mandoc = Program::new("mandoc");
    mandoc.args(["-Tlint", "-Werror"]).args(&files);
    for mut reader in [groff, mandoc] {
        let name = reader.get_program().to_string_lossy().into_owned();
        let Ok(said) = reader.output() else {
            skipped(&format!("{name} is not installed"));
            continue;
        };
        let said = [said.stdout, said.stderr].concat();
        assert_eq!(String::from_utf8_lossy(&said), "", "{name}");
    }
}
