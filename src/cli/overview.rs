//! The first help page: commands in groups by purpose.

use clap::builder::Styles;

use crate::terminal::output::wrap;

/// Every command once, in groups. Within a group in the order of [`Command`].
const GROUPS: [(&str, &[&str]); 7] = [
    ("Find and book", &["search", "slots", "book", "batch"]),
    (
        "Follow a booking",
        &["show", "watch", "continue", "modify", "cancel"],
    ),
    (
        "Your bookings and limits",
        &["bookings", "attempts", "limits", "journal"],
    ),
    ("A guest's own account", &["session", "card"]),
    ("Build and test", &["sandbox", "webhook", "api"]),
    (
        "Connect to a service",
        &["auth", "profile", "status", "doctor"],
    ),
    ("Learn more", &["explain", "help", "completions"]),
];

/// The width of the longest name.
const NAMES: usize = 11;

/// The help of `bookctl` itself, the root of all commands, for a terminal of this many columns.
///
/// clap has headings only for flags, so the groups are written here. Nothing is built for it: the commands have their
/// summaries without their arguments.
pub(crate) fn template(all: &clap::Command, columns: usize) -> String {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let indent = NAMES + 4;
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (heading, names) in GROUPS {
        text.push_str(&format!("{header}{heading}:{header:#}\n"));
        for command in names.iter().filter_map(|name| all.find_subcommand(name)) {
            let lines = wrap(&summary(command), columns.saturating_sub(indent).max(12));
            let lines = lines.join(&format!("\n{:indent$}", ""));
            let name = command.get_name();
            text.push_str(&format!("  {literal}{name:NAMES$}{literal:#}  {lines}\n"));
        }
        text.push('\n');
    }
    text.push_str(&format!(
        "{header}Options:{header:#}\n{{options}}{{after-help}}"
    ));
    text
}

fn summary(command: &clap::Command) -> String {
    let about = command.get_about().map(ToString::to_string);
    let mut summary = about.unwrap_or_default();
    for alias in command.get_all_aliases() {
        summary.push_str(&format!(" [alias: {alias}]"));
    }
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
    fn the_summaries_of_the_overview_are_those_of_each_commands_own_help() {
        let mut built = every_command();
        built.build();
        for command in every_command().get_subcommands() {
            let own = built.find_subcommand(command.get_name()).unwrap();
            assert!(!summary(command).is_empty());
            assert_eq!(summary(command), summary(own));
        }
    }

    #[test]
    fn every_command_stands_in_one_group_and_its_line_fits_a_terminal_of_80_columns() {
        let all = every_command();
        let named: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let there: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(named, there);
        for columns in [40, 80] {
            let template = console::strip_ansi_codes(&template(&all, columns)).into_owned();
            for line in template.lines() {
                assert!(line.chars().count() <= columns.max(41), "{columns}: {line}");
            }
            let goes_on = format!("\n{:1$}", "", NAMES + 4);
            assert_eq!(template.contains(&goes_on), columns == 40, "{template}");
        }
    }
}
