//! The command tree, as the program itself has it.

use std::path::Path;

use crate::harness::Home;

/// One command: its path after `bookctl`, and what it takes.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) path: Vec<String>,
    /// Its positional arguments, then its flags with their values; the global flags stand with the
    /// root alone.
    arguments: Vec<String>,
    /// Whether it has commands below it.
    pub(crate) is_group: bool,
}

/// Every command, groups before what is in them, in the order of the help. The first is `bookctl`
/// itself.
pub(crate) fn commands() -> Vec<Command> {
    let (mut root, mut found) = (bookctl::command(), Vec::new());
    root.build();
    walk(&root, Vec::new(), &mut found);
    found
}

fn walk(command: &clap::Command, path: Vec<String>, found: &mut Vec<Command>) {
    let is_own = |it: &&clap::Arg| path.is_empty() || !it.is_global_set();
    let shown = command.get_arguments().filter(is_own);
    let shown = shown.filter(|it| !it.is_hide_set() && it.get_id() != "help");
    let (positionals, mut flags): (Vec<_>, Vec<_>) = shown.partition(|it| it.is_positional());
    flags.sort_by_key(|it| (it.get_short().is_none(), it.get_long()));
    let short = |it: &clap::Arg| it.get_short().map(|short| format!("-{short} "));
    let named = |it: &&clap::Arg| short(it).unwrap_or_default() + &it.to_string();
    let below = command.get_subcommands().filter(|it| !it.is_hide_set());
    found.push(Command {
        path: path.clone(),
        arguments: positionals.iter().chain(&flags).map(named).collect(),
        is_group: command.has_subcommands(),
    });
    for command in below {
        let name = command.get_name().to_owned();
        walk(command, [&path[..], &[name]].concat(), found);
    }
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
        assert_eq!(by_flag.stderr, "", "{by_flag}");
        let by_word = home.ok(["help"].iter().chain(&words));
        assert_eq!(by_word.stdout, by_flag.stdout, "{words:?}");
        let first_page = by_flag.stdout.lines().count();
        assert!(!words.is_empty() || first_page <= 50, "{by_flag}");
        assert!(home.ok(words.iter().chain(&["-h"])).stdout.len() > 50);
        let one_word = words.len() == 1 && !command.is_group;
        assert!(!one_word || by_flag.stdout.contains("\nExample"), "{by_flag}");
    }
    assert!(!home.path().exists(), "help needs no home");
}
