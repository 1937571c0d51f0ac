//! The first help page: commands in groups by purpose.

use clap::builder::Styles;

use super::commands::help::TOPICS;
use crate::terminal::output::wrap;

/// The first command of each group. Those from the last one on have no line of their own.
const GROUPS: [(&str, &str); 5] = [
    ("search", "Book"),
    ("desk", "Support a guest"),
    ("sandbox", "Build and test"),
    ("auth", "Connect"),
    ("completions", "commands"),
];

const FLAGS: [(&str, &str); 4] = [
    ("--json", "Print JSON and never prompt"),
    ("--jq EXPR", "Filter the JSON document and never prompt"),
    ("--profile", "Use this profile, or `sandbox`"),
    ("--help", "Show the help of a command (all flags: `bookctl help flags`)"),
];

/// The width of the longest name, and where its description begins.
const NAMES: usize = 11;
const INDENT: usize = NAMES + 4;

/// The help of `bookctl` for this many columns: clap has headings only for flags.
pub(crate) fn template(all: &clap::Command, columns: usize) -> String {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    let mut section = |heading: &str, rows: Vec<(&str, String)>| {
        text.push_str(&format!("{header}{heading}:{header:#}\n"));
        for (name, about) in rows {
            let lines = wrap(&about, columns.saturating_sub(INDENT).max(12));
            let lines = lines.join(&format!("\n{:INDENT$}", ""));
            text.push_str(&format!("  {literal}{name:NAMES$}{literal:#}  {lines}\n"));
        }
        text.push('\n');
    };
    let displayed = all.get_subcommands().filter(|it| !it.is_hide_set());
    let mut rows: Vec<_> = displayed.map(|it| (it.get_name(), summary(it))).collect();
    for pair in GROUPS.windows(2) {
        let next = rows.iter().position(|(name, _)| *name == pair[1].0);
        section(pair[0].1, rows.drain(..next.unwrap_or_default()).collect());
    }
    let more: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
    let lists = [(GROUPS[4].1, more.join(", ")), ("topics", TOPICS.join(", "))];
    section("More with `bookctl help NAME`", lists.into());
    section("Flags", FLAGS.map(|(flag, about)| (flag, about.into())).into());
    text.trim_end().to_owned() + "{after-help}"
}

fn summary(command: &clap::Command) -> String {
    let mut summary = command.get_about().map(ToString::to_string).unwrap_or_default();
    summary.extend(command.get_all_aliases().map(|alias| format!(" [alias: {alias}]")));
    summary
}

#[cfg(test)]
mod tests {
    use clap::Subcommand;

    use super::*;
    use crate::cli::commands::Command;

    fn every_command() -> clap::Command {
        Command::augment_subcommands(clap::Command::new("bookctl")).disable_help_subcommand(true)
    }

    #[test]
    fn summaries_of_overview_are_those_of_each_commands_own_help() {
        let mut built = every_command();
        built.build();
        for command in every_command().get_subcommands() {
            let own = built.find_subcommand(command.get_name()).unwrap();
            assert!(!summary(command).is_empty());
            assert_eq!(summary(command), summary(own));
        }
    }

    #[test]
    fn each_line_of_the_overview_fits_a_terminal_of_80_columns() {
        let all = every_command();
        for columns in [40, 80] {
            let template = console::strip_ansi_codes(&template(&all, columns)).into_owned();
            for line in template.trim_end_matches("{after-help}").lines() {
                assert!(line.chars().count() <= columns.max(41), "{columns}: {line}");
            }
        }
    }
}
