//! What a request has to be, from what refusals name: the settings of a profile that write it so. A
//! field gets what its name or its refusal says, or the one thing that is left; else only a person
//! knows it, and a hole stands for it.

use serde_json::{Map, Value};

use super::named_fields::Named;
use crate::platform::shell;
use crate::service::mapping::{Mapping, Setting, WriteKind, is_one_of, jq_key, set_command};

// Values of fields, as expressions over a request in our shape.
const TIME: &str = ".datetime";
const DAY: &str = ".datetime[:10]";
const PARTY: &str = ".party_size";
// The row of a batch may have a time as it came, which is a number already.
const SECONDS: &str = "(.datetime | if type == \"string\" then fromdateiso8601 else . end)";

/// What refusals report of a time, separated by `|`, and the form that they want. First fit.
const FORMS: [(&str, &str); 6] = [
    (
        "milli|epoch_ms",
        "(.datetime | if type == \"string\" then fromdateiso8601 * 1000 else . end)",
    ),
    ("epoch|unix|seconds|timestamp", SECONDS),
    ("without|local time|yyyy-mm-ddt|yyyy-mm-dd hh", ".datetime[:16]"),
    ("3339|8601|offset|date and time", TIME),
    ("hh:mm|time of day", ".datetime[11:16]"),
    ("yyyy-mm-dd|a date|a day", DAY),
];

/// The contract's own words in a field's name: `venueId`, `filter.party-size`, `startTime`.
const WORDS: [(&str, &str); 5] =
    [("venue", ".venue_id"), ("party", PARTY), ("time", TIME), ("date", TIME), ("day", TIME)];

/// Names of what an answer is, and not of what it says.
const KINDS: &str = "action kind method type";

fn last_name(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}

fn value_by_name(path: &str) -> Option<&'static str> {
    let last = last_name(path).to_lowercase();
    if ["date", "day"].contains(&&*last) {
        return Some(DAY);
    }
    WORDS.iter().find(|(word, _)| last.contains(word)).map(|it| it.1)
}

/// A field of the request, as it is sent.
#[derive(Clone, Debug, Default)]
struct Field {
    path: String,
    /// `None` where only a person knows it.
    value: Option<String>,
    /// Whether bookctl sends it by itself.
    is_own: bool,
    /// Whether neither its name nor a refusal shows what it holds.
    is_guess: bool,
    why: String,
}

impl Field {
    fn has(&self, name: &str) -> bool {
        !self.is_guess && self.value.as_ref().is_some_and(|it| it.contains(name))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) kind: WriteKind,
    /// Whether an expression of the profile writes the request: another one is for a person to say.
    pub(crate) has_expression: bool,
    /// Whether the request is a row of a batch: its fields have no flags.
    pub(crate) is_row: bool,
    /// The profile, for the commands that change it.
    pub(crate) profile: Option<String>,
    /// The contract's names of what bookctl sends by itself.
    own: Vec<&'static str>,
    fields: Vec<Field>,
}

impl Draft {
    pub(crate) fn new(mapping: &Mapping, kind: WriteKind) -> Self {
        let fields = kind.fields().iter().map(|(name, key)| Field {
            path: mapping.dialect.get(key).unwrap_or(name).to_owned(),
            value: Some(format!(".{name}")),
            is_own: true,
            ..Field::default()
        });
        Draft {
            kind,
            has_expression: mapping.write.contains_key(&kind),
            is_row: false,
            profile: mapping.profile.clone(),
            own: kind.fields().iter().map(|it| it.0).collect(),
            fields: fields.collect(),
        }
    }

    /// Leaves what was not asked for to itself, where a request has several fields, but for the
    /// names that the profile gave it.
    pub(crate) fn asked_for(mut self, requested: &Map<String, Value>) -> Self {
        if self.own.len() > 1 {
            let has_name = |name: &str| self.fields.iter().any(|it| it.path == name);
            self.own.retain(|name| requested.contains_key(*name) || !has_name(name));
            self.fields.retain(|it| self.own.iter().any(|name| it.has(name)));
        }
        self
    }

    pub(crate) fn is_search(&self) -> bool {
        matches!(self.kind, WriteKind::Search | WriteKind::Slots)
    }

    /// The contract's name of the field that is sent as `path`, if the profile may name it.
    pub(crate) fn own_name(&self, path: &str) -> Option<&str> {
        self.fields.iter().find(|it| it.is_own && it.path == path)?.value.as_deref()?.get(1..)
    }

    /// Takes in what a refusal names. Returns whether the request is another one now.
    pub(crate) fn take<'a>(&mut self, refused: impl IntoIterator<Item = &'a Named>) -> bool {
        let before = self.expression(false);
        for it in refused {
            let at = self.fields.iter().position(|field| field.path == it.name);
            if it.is_unknown() {
                at.map(|at| self.fields.remove(at));
                continue;
            }
            let is_first = at.is_none_or(|at| self.fields[at].is_own);
            let value = self.find_value(it, is_first);
            let Some(at) = at else {
                let is_guess = value.is_none()
                    && value_by_name(&it.name).is_none()
                    && !is_one_of(KINDS, last_name(&it.name));
                let (path, why) = (it.name.clone(), it.why.clone());
                self.fields.push(Field { path, value, is_own: false, is_guess, why });
                continue;
            };
            let field = &mut self.fields[at];
            // That it is required says less than what it must be.
            if is_first || !it.why.is_empty() && !it.why.ends_with("required") {
                field.why.clone_from(&it.why);
            }
            if !is_first || value.is_some() && value != field.value {
                *field = Field { value, is_own: false, is_guess: false, ..std::mem::take(field) };
            }
        }
        self.fill_guesses();
        self.expression(false) != before
    }

    /// Puts the only value that has no place into the only field without one. In a search the
    /// others get the time, so that the next rejection shows what they want. What has another
    /// place is not sent by itself.
    fn fill_guesses(&mut self) {
        let has =
            |name: &str, is_own| self.fields.iter().any(|it| it.is_own == is_own && it.has(name));
        let mut left: Vec<&str> =
            self.own.iter().copied().filter(|name| !has(name, false)).collect();
        if left.iter().any(|name| !has(name, true)) {
            left.retain(|name| !has(name, true));
        }
        let is_search = self.is_search();
        let guesses = self.fields.iter_mut().filter(|it| it.is_guess);
        match (&left[..], &mut guesses.collect::<Vec<_>>()[..]) {
            ([name], [field]) => {
                // A search of venues is not sent twice to test it.
                field.is_guess = self.kind == WriteKind::Search;
                field.value = Some(format!(".{name}"));
            }
            (_, guesses) if is_search => {
                guesses.iter_mut().for_each(|it| it.value = Some(TIME.to_owned()));
            }
            _ => {}
        }
        for name in &self.own {
            if self.fields.iter().any(|it| !it.is_own && it.has(name)) {
                self.fields.retain(|it| !it.is_own || !it.has(name));
            }
        }
    }

    /// What the refusal of a field says that it holds, or where it is new, its name.
    fn find_value(&self, it: &Named, is_new: bool) -> Option<String> {
        let why = it.why.to_lowercase();
        let says = |words: &str| words.split('|').any(|word| why.contains(word));
        let by_name = value_by_name(&it.name);
        let value = match FORMS.iter().find(|(words, _)| says(words)) {
            Some((_, form)) => Some(*form),
            None if says("number|integer") => match by_name {
                Some(TIME | DAY) => Some(SECONDS),
                // A search of venues is not sent twice to test it.
                None if self.kind != WriteKind::Search => Some(PARTY),
                other => other,
            },
            None => by_name.filter(|_| is_new),
        };
        let is_own = |value: &&str| self.own.iter().any(|name| value.contains(name));
        value.filter(is_own).map(str::to_owned)
    }

    /// The setting that makes this request; none where the profile makes it already. Where another
    /// name is all that is asked for, a key of the dialect says it. With holes, `<?>` and `NAME`
    /// stand for what only a person knows.
    pub(crate) fn setting(&self, with_holes: bool) -> Option<Setting> {
        let sent = self.sent(with_holes);
        if sent.len() == self.own.len() && sent.iter().all(|(it, _)| it.is_own) {
            return None;
        }
        if let [name] = self.own[..] {
            let path = match sent[..] {
                [(field, Some(value))] if value[1..] == *name => Some(&*field.path),
                [] => with_holes.then_some("NAME"),
                _ => None,
            };
            let key = self.kind.fields().iter().find(|it| it.0 == name && !it.1.is_empty());
            if let (Some(path), Some((_, key))) = (path, key) {
                return Some(Setting::new(format!("dialect.{key}"), path));
            }
        }
        let key = format!("write.{}", self.kind.as_str());
        Some(Setting::new(key, self.expression(with_holes)))
    }

    /// What is sent, with its values. With holes, what only a person knows is among it, without one;
    /// else what a guess tries stands in no other place.
    fn sent(&self, with_holes: bool) -> Vec<(&Field, Option<&str>)> {
        let is_tried = |it: &Field| {
            it.is_own && self.fields.iter().any(|guess| guess.is_guess && guess.value == it.value)
        };
        let sent = self.fields.iter().filter(|it| with_holes || !is_tried(it));
        let is_hole = |it: &Field| with_holes && it.is_guess;
        let sent = sent.map(|it| (it, it.value.as_deref().filter(|_| !is_hole(it))));
        sent.filter(|it| with_holes || it.1.is_some()).collect()
    }

    fn expression(&self, with_holes: bool) -> String {
        let sent = self.sent(with_holes);
        let mut left_out = self.own.clone();
        left_out.retain(|name| !sent.iter().any(|(it, _)| it.path == *name));
        let mut text = match left_out[..] {
            [] => ".".to_owned(),
            _ => format!("del(.{})", left_out.join(", .")),
        };
        let mut is_filled = false;
        for (Field { path, .. }, value) in sent {
            if value.is_none_or(|value| value[1..] != *path) {
                is_filled |= value.is_some();
                let mut value = value.unwrap_or("<?>").to_owned();
                for part in path.rsplit('.') {
                    value = format!("{{{}: {value}}}", jq_key(part).trim_start_matches('.'));
                }
                text.push_str(&format!(" * {value}"));
            }
        }
        // What is not asked for is not sent either. A search of slots has all its fields.
        if is_filled && self.kind != WriteKind::Slots {
            text.push_str(" | with_entries(select(.value != null))");
        }
        text
    }

    /// The fields that only a person knows, each with the service's words, and what of the request
    /// has no place yet.
    pub(crate) fn open(&self) -> Option<String> {
        let is_open = |it: &&Field| it.is_guess || it.value.is_none();
        let names = self.fields.iter().filter(is_open).map(|it| match it.why.as_str() {
            "" => format!("`{}`", it.path),
            why => format!("`{}` ({why})", it.path),
        });
        let names = names.collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| format!("{names}; the request has .{}", self.own.join(", .")))
    }

    pub(crate) fn command(&self) -> Option<String> {
        let setting = self.setting(true)?.to_string();
        Some(set_command(self.profile.as_deref(), &shell::word(&setting)))
    }
}

#[cfg(test)]
mod tests;
