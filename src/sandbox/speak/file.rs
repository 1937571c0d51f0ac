//! The file that says how a service speaks, and the built-in ones.

use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::kind::{AnswerKind, RequestKind};
use super::scalars::{Money, Times};
use super::settings::SETTINGS;
use super::speech::{Paging, Speech};
use crate::platform::jq::Worker;

/// The built-in files by their names.
pub(crate) const BUILT_IN: &[(&str, &str)] = &[
    ("enveloped", include_str!("built_in/enveloped.toml")),
    ("camel", include_str!("built_in/camel.toml")),
    ("plain", include_str!("built_in/plain.toml")),
];

/// What is wrong with a file, and on which line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnreadableFile {
    file: String,
    line: usize,
    why: String,
}

impl fmt::Display for UnreadableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, why } = self;
        write!(f, "{file}, line {line}: {why}")
    }
}

/// A key that is refused: where it stands, its name, and why as the predicate of a sentence.
struct Refused(usize, String);

impl Refused {
    fn new<T>(at: &Spanned<T>, key: &str, why: &str) -> Self {
        Self(at.span().start, format!("{} {why}", key.escape_debug()))
    }
}

impl Speech {
    /// The service that a text describes; `name` is that of the file.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, UnreadableFile> {
        let refuse = |at: usize, why: String| UnreadableFile {
            file: name.to_owned(),
            line: text.get(..at).unwrap_or_default().matches('\n').count() + 1,
            why,
        };
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |it| it.start);
            refuse(at, error.message().to_owned())
        })?;
        let mut speech = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        speech
            .fill(table.get_ref())
            .map_err(|Refused(at, why)| refuse(at, why))?;
        Ok(speech)
    }

    fn fill(&mut self, table: &DeTable<'_>) -> Result<(), Refused> {
        let mut dialect_at = None;
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "dialect" => {
                    dialect_at = Some(key);
                    for (key, value) in inner(key, value)? {
                        let full = format!("dialect.{}", key.get_ref());
                        let name = text(&full, value)?;
                        let set = self.dialect.set(key.get_ref(), name);
                        set.map_err(|why| Refused::new(key, &full, &why))?;
                    }
                }
                "read" => {
                    for (key, value) in inner(key, value)? {
                        let full = format!("read.{}", key.get_ref());
                        let kind = RequestKind::parse(key.get_ref());
                        let kind = kind
                            .ok_or_else(|| unknown_kind(key, &full, &names(RequestKind::TABLE)))?;
                        self.read.insert(kind, expression(&full, value)?);
                    }
                }
                "write" => {
                    for (key, value) in inner(key, value)? {
                        let full = format!("write.{}", key.get_ref());
                        let kind = AnswerKind::parse(key.get_ref());
                        let kind = kind
                            .ok_or_else(|| unknown_kind(key, &full, &names(AnswerKind::TABLE)))?;
                        self.write.insert(kind, expression(&full, value)?);
                    }
                }
                setting => self
                    .set(setting, value.get_ref())
                    .map_err(|why| Refused::new(key, setting, &why))?,
            }
        }
        if let (Some(at), Some((key, why))) = (dialect_at, self.dialect.clash()) {
            let table = table.get("dialect").and_then(|it| it.get_ref().as_table());
            let own = table
                .into_iter()
                .flatten()
                .find(|(own, _)| own.get_ref() == key);
            let at = own.map_or(at, |(own, _)| own);
            return Err(Refused::new(at, &format!("dialect.{key}"), &why));
        }
        if self.local_times && self.times != Times::Rfc3339 {
            let local = table.keys().find(|it| it.get_ref() == "local_times");
            let at = local.map_or(0, |it| it.span().start);
            return Err(Refused(
                at,
                "local_times needs times = \"rfc3339\"".to_owned(),
            ));
        }
        Ok(())
    }

    /// Sets a key at the top of the file.
    fn set(&mut self, key: &str, value: &DeValue<'_>) -> Result<(), String> {
        let flag = || {
            value
                .as_bool()
                .ok_or_else(|| "must be true or false".to_owned())
        };
        match key {
            "base_path" => self.base_path = base_path(value)?,
            "local_times" => self.local_times = flag()?,
            "number_ids" => self.number_ids = flag()?,
            "times" => {
                self.times = one_of(
                    value,
                    &[
                        ("rfc3339", Times::Rfc3339),
                        ("epoch", Times::Epoch),
                        ("epoch_ms", Times::EpochMs),
                    ],
                )?;
            }
            "money" => {
                self.money = one_of(
                    value,
                    &[
                        ("minor", Money::Minor),
                        ("decimal", Money::Decimal),
                        ("object", Money::Object),
                    ],
                )?;
            }
            "paging" => {
                self.paging = one_of(
                    value,
                    &[
                        ("none", Paging::None),
                        ("cursor", Paging::Cursor),
                        ("link", Paging::Link),
                    ],
                )?;
            }
            "created_status" => {
                let status = whole(value).filter(|it| matches!(it, 200 | 201));
                self.created_status = status
                    .and_then(|it| it.try_into().ok())
                    .ok_or("must be 200 or 201")?;
            }
            "page_size" => {
                let size = whole(value).filter(|it| (1..=1000).contains(it));
                self.page_size = size
                    .and_then(|it| it.try_into().ok())
                    .ok_or("must be a whole number from 1 to 1000")?;
            }
            _ => {
                let known: Vec<&str> = SETTINGS.iter().map(|(key, ..)| *key).collect();
                return Err(format!(
                    "is not known; the keys are {}, and the tables dialect, read and write",
                    known.join(", ")
                ));
            }
        }
        Ok(())
    }
}

/// The entries of a table in the file.
fn inner<'a, 'i>(
    key: &Spanned<std::borrow::Cow<'i, str>>,
    value: &'a Spanned<DeValue<'i>>,
) -> Result<&'a DeTable<'i>, Refused> {
    value
        .get_ref()
        .as_table()
        .ok_or_else(|| Refused::new(key, key.get_ref(), "must be a table"))
}

fn text<'a>(key: &str, value: &'a Spanned<DeValue<'_>>) -> Result<&'a str, Refused> {
    value
        .get_ref()
        .as_str()
        .ok_or_else(|| Refused::new(value, key, "must be text in quotes"))
}

fn expression(key: &str, value: &Spanned<DeValue<'_>>) -> Result<Worker, Refused> {
    Worker::new(text(key, value)?).map_err(|why| Refused::new(value, key, &why))
}

fn names<K>(table: &[(K, &str, &str)]) -> String {
    let names: Vec<&str> = table.iter().map(|(_, name, _)| *name).collect();
    names.join(", ")
}

fn unknown_kind<T>(at: &Spanned<T>, key: &str, kinds: &str) -> Refused {
    Refused::new(at, key, &format!("is not known; the kinds are {kinds}"))
}

/// The value that a word stands for.
fn one_of<T: Copy>(value: &DeValue<'_>, words: &[(&str, T)]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| value.as_str() == Some(word));
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        format!("must be {}", words.join(", "))
    })
}

fn whole(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// A path with a slash before each of its parts, and none at its end.
fn base_path(value: &DeValue<'_>) -> Result<String, String> {
    let refused =
        || "must be a path of letters, digits, `-`, `_` and `.`, as \"/partner-api\"".to_owned();
    let path = value.as_str().ok_or_else(refused)?;
    let parts: Vec<&str> = path.split('/').filter(|it| !it.is_empty()).collect();
    let is_plain = |it: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        it.chars().all(plain) && !matches!(*it, "." | "..")
    };
    if !path.starts_with('/') || !parts.iter().all(is_plain) {
        return Err(refused());
    }
    if matches!(parts.first(), Some(&("v1" | "sandbox"))) {
        return Err("cannot begin with v1 or sandbox, which the sandbox itself uses".to_owned());
    }
    Ok(parts.iter().map(|it| format!("/{it}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Speech::parse("x.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn every_built_in_service_is_readable_and_has_a_name_of_its_own() {
        for (name, text) in BUILT_IN {
            let speech = Speech::parse(name, text);
            assert_eq!(speech.map(|it| it.name).as_deref(), Ok(*name));
        }
        assert_eq!(BUILT_IN.len(), 3);
    }

    #[test]
    fn every_setting_of_the_documentation_is_taken_and_no_other_is() {
        let values = [
            ("base_path", "'/a/b.c'"),
            ("number_ids", "true"),
            ("times", "'epoch_ms'"),
            ("local_times", "false"),
            ("money", "'object'"),
            ("created_status", "200"),
            ("paging", "'link'"),
            ("page_size", "3"),
        ];
        assert_eq!(
            values.map(|(key, _)| key),
            *SETTINGS.iter().map(|it| it.0).collect::<Vec<_>>()
        );
        for (key, value) in values {
            Speech::parse("x.toml", &format!("{key} = {value}")).unwrap();
            let wrong = refused(&format!("# comment\n{key} = -1"));
            assert!(
                wrong.starts_with(&format!("x.toml, line 2: {key} must be ")),
                "{wrong}"
            );
        }
        assert!(
            refused("speed = 1")
                .starts_with("x.toml, line 1: speed is not known; the keys are base_path, ")
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_file_line_and_key() {
        for (text, said) in [
            ("times =", "x.toml, line 1: "),
            (
                "\n[dialect]\notp_feild = 'pin'",
                "x.toml, line 3: dialect.otp_feild is not known; the names are auth_header, ",
            ),
            (
                "[dialect]\notp_field = 3",
                "x.toml, line 2: dialect.otp_field must be text in quotes",
            ),
            (
                "[dialect]\notp_field = 'a..b'",
                "x.toml, line 2: dialect.otp_field has an empty part between its dots",
            ),
            (
                "[dialect]\nauth_header = 'X Key'",
                "x.toml, line 2: dialect.auth_header is no header name",
            ),
            (
                "[dialect]\n\notp_action = 'payment_approval'",
                "cannot be \"payment_approval\", which is used beside it",
            ),
            (
                "[read]\nbooking = '.'",
                "x.toml, line 2: read.booking is not known; the kinds are search, slots, ",
            ),
            (
                "[write]\nsearch = '.'",
                "x.toml, line 2: write.search is not known; the kinds are index, venues, ",
            ),
            (
                "[write]\nbooking = '.a |'",
                "x.toml, line 2: write.booking is not a jq expression",
            ),
            (
                "[write]\nbooking = 'nothing'",
                "x.toml, line 2: write.booking nothing is not defined",
            ),
            ("write = 1", "x.toml, line 1: write must be a table"),
            (
                "times = 'epoch'\nlocal_times = true",
                "x.toml, line 2: local_times needs times = \"rfc3339\"",
            ),
            ("base_path = 'v1'", "must be a path"),
            ("base_path = '/v1'", "cannot begin with v1 or sandbox"),
            ("base_path = '/a/../b'", "must be a path"),
        ] {
            let wrong = refused(text);
            assert!(wrong.contains(said), "{text}: {wrong}");
        }
    }
}
