//! The command tree, as the help of each command tells it.

use std::path::Path;

use crate::harness::Home;

/// One command: its path after `bookctl`, and what its own help lists.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) path: Vec<String>,
    /// Its positional arguments as the usage line names them, then its flags with their values.
    arguments: Vec<String>,
    /// Whether it has commands below it.
    pub(crate) is_group: bool,
}

/// Every command, groups before what is in them, in the order of the help. The first is `bookctl` itself.
pub(crate) fn commands() -> Vec<Command> {
    let home = Home::new();
    let mut found = Vec::new();
    walk(&home, Vec::new(), &mut found);
    found
}

fn walk(home: &Home, path: Vec<String>, found: &mut Vec<Command>) {
    let help = home.run(path.iter().map(String::as_str).chain(["--help"]));
    let help = help.exits(0).stdout;
    let below = match path.is_empty() {
        true => names_of_groups(&help),
        false => names_below(&help),
    };
    let mut arguments = positionals(&help);
    arguments.extend(flags(&help, path.is_empty()));
    found.push(Command {
        path: path.clone(),
        arguments,
        is_group: !below.is_empty(),
    });
    for name in below {
        let mut path = path.clone();
        path.push(name);
        walk(home, path, found);
    }
}

/// The lines of a section, without its heading.
fn section<'a>(help: &'a str, heading: &str) -> impl Iterator<Item = &'a str> {
    help.lines()
        .skip_while(move |line| *line != format!("{heading}:"))
        .skip(1)
        .take_while(|line| line.is_empty() || line.starts_with(' '))
}

/// The first page has its commands in groups, between the usage and the flags.
fn names_of_groups(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| !line.starts_with("Usage:"))
        .take_while(|line| *line != "Options:")
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn names_below(help: &str) -> Vec<String> {
    // What a description goes on with stands further to the right.
    section(help, "Commands")
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn positionals(help: &str) -> Vec<String> {
    section(help, "Arguments")
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// `-F --field <KEY=VALUE>`; the global flags stand with the root alone.
fn flags(help: &str, root: bool) -> Vec<String> {
    let mut flags = Vec::new();
    let sections = help.lines().filter(|line| line.ends_with("ptions:"));
    for heading in sections.map(|line| line.trim_end_matches(':')) {
        if heading == "Global options" && !root {
            continue;
        }
        for line in section(help, heading) {
            let line = line.trim_start();
            if !line.starts_with('-') {
                continue;
            }
            // Two blanks stand before the description.
            let flag = line.split("  ").next().unwrap();
            if !flag.contains("--help") {
                flags.push(flag.replace(',', ""));
            }
        }
    }
    flags.sort_by_key(|flag| flag.trim_start_matches("--").to_owned());
    flags
}

/// A name that scripts rely on does not change unseen.
#[test]
fn the_command_tree_is_the_one_that_was_agreed() {
    let mut tree = String::new();
    for command in commands() {
        let words = ["bookctl".to_owned()].into_iter().chain(command.path);
        let line: Vec<String> = words.chain(command.arguments).collect();
        tree.push_str(&line.join(" "));
        tree.push('\n');
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/golden/command-tree.txt");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &tree).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = |line: &&str, other: &str| !other.lines().any(|it| it == *line);
    let gone: Vec<&str> = golden.lines().filter(|it| differs(it, &tree)).collect();
    let new: Vec<&str> = tree.lines().filter(|it| differs(it, &golden)).collect();
    assert!(
        golden == tree,
        "the command tree has changed; UPDATE_DOCS=1 cargo test writes it anew\ngone: {gone:#?}\nnew: {new:#?}"
    );
}

/// `bookctl help WORDS` and `bookctl WORDS --help` are one text, which ends with examples.
#[test]
fn every_command_has_help_with_an_example_by_both_ways() {
    let home = Home::new();
    for command in commands() {
        let words: Vec<&str> = command.path.iter().map(String::as_str).collect();
        let by_flag = home.ok(words.iter().chain(&["--help"]));
        if words != ["sandbox"] {
            let by_word = home.ok(["help"].iter().chain(&words));
            assert_eq!(by_word.stdout, by_flag.stdout, "{words:?}");
        }
        assert!(home.ok(words.iter().chain(&["-h"])).stdout.len() > 50);
        let one_word = words.len() == 1 && !command.is_group;
        assert!(
            !one_word || by_flag.stdout.contains("\nExample"),
            "{by_flag}"
        );
    }
}
