//! What `profile learn` found, for people, as JSON, and as a file for review.

use serde_json::json;
use toml_edit::{DocumentMut, Item, Key, Table};

use crate::adapter::learn::{Certainty, Finding};
use crate::json::Document;
use crate::model::shell;
use crate::outcome::{Code, Error, Result};
use crate::terminal::output::{Page, Tone, View};

/// The settings as tables of `config.toml`; what is not sure stands in comments.
pub(super) fn review(name: &str, findings: &[Finding]) -> Result<String> {
    let mut text = String::from("# Found by `bookctl profile learn`. Nothing is applied yet.\n");
    let sure: Vec<&Finding> = findings.iter().filter(|it| it.is_sure()).collect();
    if !sure.is_empty() {
        let settings = sure
            .iter()
            .map(|it| shell::word(&format!("{}={}", it.key, it.value)));
        let settings = settings.collect::<Vec<_>>().join(" ");
        text.push_str(&format!(
            "# To apply all of it, run this command, or copy the tables below into config.toml:\n\
             #   bookctl profile set {} {settings}\n",
            shell::word(name),
        ));
    }
    for finding in findings {
        let (certainty, why) = (finding.certainty.as_str(), finding.why.escape_debug());
        text.push_str(&format!("# {certainty}: {why}\n"));
        if !finding.is_sure() && !finding.value.is_empty() {
            let value = finding.value.escape_debug();
            text.push_str(&format!("#   {} = {value}\n", finding.key));
        }
    }
    text.push_str(&tables(name, &sure)?);
    Ok(text)
}

/// The tables of a profile with these settings.
fn tables(name: &str, findings: &[&Finding]) -> Result<String> {
    let mut profile = Table::new();
    for finding in findings {
        let (table, key) = match finding.key.split_once('.') {
            Some((table, key)) => {
                let inner = profile
                    .entry(table)
                    .or_insert_with(|| Item::Table(Table::new()));
                (inner.as_table_mut(), key)
            }
            None => (Some(&mut profile), finding.key.as_str()),
        };
        let value = match finding.key.as_str() {
            "local_times" => toml_edit::value(true),
            _ => toml_edit::value(finding.value.as_str()),
        };
        let table = table.ok_or_else(|| Error::new(Code::Config, "a setting is no table"))?;
        table.insert(key, value);
    }
    profile.set_implicit(true);
    let mut profiles = Table::new();
    profiles.set_implicit(true);
    profiles.insert_formatted(&Key::new(name), Item::Table(profile));
    let mut document = DocumentMut::new();
    document.insert("profiles", Item::Table(profiles));
    let text = document.to_string();
    Ok(match text.is_empty() || text.starts_with('\n') {
        true => text,
        false => format!("\n{text}"),
    })
}

/// What was written, and where.
pub(super) enum Written {
    Profile(String),
    /// A file that a person looks at; the profile is as it was.
    ForReview(String),
}

/// What was learned.
pub(super) struct Learned {
    pub(super) profile: String,
    pub(super) calls: usize,
    pub(super) findings: Vec<Finding>,
    pub(super) refused: Vec<String>,
    /// The documents that the new settings cannot read.
    pub(super) misread: Vec<String>,
    /// What the new settings do not find in the others.
    pub(super) not_found: Vec<String>,
    /// Whether it is only asked if the profile still fits.
    pub(super) is_check: bool,
    pub(super) written: Option<Written>,
}

impl Learned {
    /// Whether the service differs from what the profile says. What is shown as it came is no difference: nothing is
    /// lost.
    pub(super) fn is_drifted(&self) -> bool {
        let differs = |it: &Finding| {
            !it.key.is_empty() || it.certainty == Certainty::ToBeAsked && it.value.is_empty()
        };
        self.findings.iter().any(differs) || !self.refused.is_empty() || !self.misread.is_empty()
    }

    fn unread(&self) -> impl Iterator<Item = &str> {
        self.misread
            .iter()
            .chain(&self.not_found)
            .map(String::as_str)
    }

    fn heading(&self) -> (Tone, &'static str, String) {
        let name = self.profile.clone();
        let has_settings = self.findings.iter().any(Finding::is_sure);
        match &self.written {
            Some(Written::Profile(_)) => (Tone::Good, "learned", name),
            Some(Written::ForReview(file)) => (Tone::Good, "wrote", file.clone()),
            None if self.is_check && self.is_drifted() => {
                (Tone::Warn, "does not fit", format!("profile {name}"))
            }
            None if self.is_check => (Tone::Good, "fits", format!("profile {name}")),
            None if has_settings => (Tone::Warn, "found", format!("settings for {name}")),
            None => (Tone::Good, "nothing to change", name),
        }
    }

    /// What a person does next.
    fn follow_up(&self, page: &mut Page) {
        let name = shell::word(&self.profile);
        match &self.written {
            Some(Written::Profile(file)) => {
                page.field("written", file.as_str());
                page.field(
                    "access",
                    "read-only from now on: check what bookctl understands, then allow changes",
                );
                page.next(format!("bookctl doctor --probe --profile {name}"));
                page.next(format!("bookctl profile set {name} read_only=false"));
            }
            Some(Written::ForReview(_)) => {
                page.sentence(format!(
                    "Profile {} is as it was. To apply the settings, run the `bookctl profile set` command at the top \
                     of the file, or copy its tables into config.toml.",
                    self.profile
                ));
            }
            None if self.is_check && self.findings.iter().any(Finding::is_sure) => {
                page.next(format!("bookctl profile learn {name}"));
            }
            None => {}
        }
    }
}

impl View for Learned {
    fn json(&self) -> Document {
        let findings = self.findings.iter().map(|it| {
            json!({"certainty": it.certainty.as_str(), "key": it.key, "value": it.value, "why": it.why})
        });
        let written = self.written.as_ref().map(|it| match it {
            Written::Profile(file) | Written::ForReview(file) => file,
        });
        json!({
            "profile": self.profile,
            "calls": self.calls,
            "findings": findings.collect::<Vec<_>>(),
            "refused": self.refused,
            "unread": self.unread().collect::<Vec<_>>(),
            "written": written,
        })
        .into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        let (tone, state, about) = self.heading();
        page.heading(tone, state, about);
        page.field("sent", format!("{} reads, nothing else", self.calls));
        for certainty in [
            Certainty::Certain,
            Certainty::Likely,
            Certainty::ToBeAsked,
            Certainty::Open,
        ] {
            for finding in self.findings.iter().filter(|it| it.certainty == certainty) {
                page.field(certainty.as_str(), finding.why.as_str());
                match (finding.key.as_str(), finding.value.as_str()) {
                    ("", "") => {}
                    ("", shape) => {
                        page.line(format!("    {shape}"));
                    }
                    (key, "") => {
                        page.line(format!("    {key} = (empty)"));
                    }
                    (key, value) => {
                        page.line(format!("    {key} = {value}"));
                    }
                }
            }
        }
        for refused in &self.refused {
            page.field("refused", refused.as_str());
        }
        for unread in self.unread() {
            page.field("not read", unread);
        }
        self.follow_up(&mut page);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_for_review_is_toml_whatever_the_profile_is_called() {
        let finding = |certainty, key: &str, value: &str| Finding::new(certainty, key, value, "it");
        let findings = [
            finding(Certainty::Certain, "dialect.auth_scheme", ""),
            finding(Certainty::Certain, "local_times", "true"),
            finding(Certainty::Likely, "read.slots", ".a |= \"b\\n\""),
            finding(Certainty::ToBeAsked, "write.slots", "x"),
        ];
        for name in ["live", "a.b", "it's \"odd\"", "ein Profil"] {
            let text = review(name, &findings).unwrap();
            let document: DocumentMut = text.parse().unwrap_or_else(|why| panic!("{why}: {text}"));
            let profile = &document["profiles"][name];
            assert_eq!(
                profile["dialect"]["auth_scheme"].as_str(),
                Some(""),
                "{text}"
            );
            assert_eq!(profile["local_times"].as_bool(), Some(true));
            assert_eq!(profile["read"]["slots"].as_str(), Some(".a |= \"b\\n\""));
            assert!(profile.get("write").is_none());
            assert!(text.contains("#   write.slots = x"), "{text}");
        }
    }
}
