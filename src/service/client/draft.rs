//! What a request has to be, from what refusals name: the settings of a profile that write it so. A
//! field gets what its name or its refusal says, or the one thing that is left; else only a person
//! knows it, and a hole stands for it.

use super::named_fields::Field;
use crate::platform::shell;
use crate::service::mapping::{HOLE, Mapping, Setting, WriteKind, jq_key, set_command};

// Values of fields, as expressions over a request in our shape.
const TIME: &str = ".datetime";
const PARTY: &str = ".party_size";
// The row of a batch may have a time as it came, which is a number already.
const SECONDS: &str = "(.datetime | if type == \"string\" then fromdateiso8601 else . end)";
const MILLISECONDS: &str =
    "(.datetime | if type == \"string\" then fromdateiso8601 * 1000 else . end)";

/// A value, with words of the refusals and words in the last name of the field, which stands between
/// `^` and `$`, that both have to be there. First fit.
const VALUES: [(&str, &str, &str); 13] = [
    // What an answer is, and not what it says: only a person knows it.
    (HOLE, "", "^action$|^kind$|^method$|^type$"),
    (MILLISECONDS, "milli|epoch_ms", ""),
    (SECONDS, "epoch|unix|seconds|timestamp", ""),
    (".datetime[:16]", "without|local time|yyyy-mm-ddt|yyyy-mm-dd hh", ""),
    (TIME, "3339|8601|offset|date and time", ""),
    (".datetime[11:16]", "hh:mm|time of day", ""),
    (".datetime[:10]", "yyyy-mm-dd|a date|a day", ""),
    (SECONDS, "number|integer", "time|date|day"),
    (".datetime[:10]", "", "^date$|^day$"),
    (".venue_id", "", "venue"),
    (PARTY, "", "party"),
    (TIME, "", "time|date|day"),
    (PARTY, "number|integer", ""),
];

/// What a field holds, and whether the refusal says so, or its name alone.
fn find_value(path: &str, why: &str) -> Option<(&'static str, bool)> {
    let last = format!("^{}$", path.rsplit('.').next()?.to_lowercase());
    let why = why.to_lowercase();
    let is_in = |words: &str, text: &str| words.split('|').any(|word| text.contains(word));
    let row = VALUES.iter().find(|(_, forms, names)| is_in(forms, &why) && is_in(names, &last))?;
    Some((row.0, !row.1.is_empty()))
}

#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) kind: WriteKind,
    /// Whether an expression of the profile writes the request: another one is for a person to say.
    has_expression: bool,
    /// Whether the request is a row of a batch: its fields have no flags.
    pub(crate) is_row: bool,
    /// The profile, for the commands that change it.
    pub(crate) profile: Option<String>,
    /// What bookctl sends by itself: paths, as the profile names them, and values.
    own: Vec<(String, String)>,
    /// The same with what refusals name. A hole stands for what only a person knows.
    fields: Vec<(String, String)>,
}

impl Draft {
    /// Leaves what was not asked for to itself, where a request has several fields, but for the
    /// names that the profile gave it.
    pub(crate) fn new(mapping: &Mapping, kind: WriteKind, asks: impl Fn(&str) -> bool) -> Self {
        let named = kind.fields().iter();
        let named = named.map(|(name, key)| (*name, mapping.dialect.get(key).unwrap_or(name)));
        let is_taken = |it: &(&str, &str)| kind.fields().len() == 1 || asks(it.0) || it.1 != it.0;
        let own = named.filter(is_taken).map(|(name, path)| (path.to_owned(), format!(".{name}")));
        let own: Vec<_> = own.collect();
        Draft {
            kind,
            has_expression: mapping.write.contains_key(&kind),
            is_row: false,
            profile: mapping.profile.clone(),
            fields: own.clone(),
            own,
        }
    }

    pub(crate) fn is_search(&self) -> bool {
        matches!(self.kind, WriteKind::Search | WriteKind::Slots)
    }

    /// The contract's name of the field that is sent as `path`, if the profile may name it.
    pub(crate) fn own_name(&self, path: &str) -> Option<&str> {
        self.own.iter().find(|it| it.0 == path)?.1.get(1..)
    }

    /// Takes in what a refusal names. Returns whether the request is another one now: a search
    /// tries something in a hole, so that the next refusal shows what is wanted.
    pub(crate) fn take(&mut self, refused: impl IntoIterator<Item = Field>) -> bool {
        if self.has_expression {
            return false;
        }
        let is_search = self.is_search();
        let sent = |fields: &[(String, String)]| -> Vec<_> {
            fields.iter().filter(|it| is_search || it.1 != HOLE).cloned().collect()
        };
        let before = sent(&self.fields);
        for it in refused {
            let at = self.fields.iter().position(|field| field.0 == it.name);
            let known = at.map(|at| self.fields.remove(at).1);
            if it.is_unknown() {
                continue;
            }
            let said = find_value(&it.name, &it.why).filter(|(value, is_said)| {
                // A search of venues is not sent twice to test that a number is the party.
                let is_tested = self.kind != WriteKind::Search || *value != PARTY;
                let is_own = self.own.iter().any(|own| value.contains(&own.1));
                is_own && if *is_said { is_tested } else { known.is_none() }
            });
            let value = said.map(|it| it.0.to_owned()).or(known).unwrap_or_else(|| HOLE.to_owned());
            self.fields.insert(at.unwrap_or(self.fields.len()), (it.name, value));
        }
        self.place_rest();
        sent(&self.fields) != before
    }

    /// Puts the only value that has no place into the only field of which nothing shows what it
    /// holds. A search of venues is not sent twice to test it: there the service has to refuse the
    /// value's own place.
    fn place_rest(&mut self) {
        let mut left = self.own.clone();
        left.retain(|own| !self.is_placed(own));
        if self.kind == WriteKind::Search || left.iter().any(|own| !self.fields.contains(own)) {
            left.retain(|own| !self.fields.contains(own));
        }
        let is_open = |it: &&mut (String, String)| it.1 == HOLE && find_value(&it.0, "").is_none();
        let mut open = self.fields.iter_mut().filter(is_open);
        if let ([(_, value)], Some(field), None) = (&left[..], open.next(), open.next()) {
            field.1.clone_from(value);
        }
    }

    /// Whether a field that a refusal named holds what bookctl sends by itself elsewhere.
    fn is_placed(&self, own: &(String, String)) -> bool {
        self.fields.iter().any(|it| it.1.contains(&own.1) && !self.own.contains(it))
    }

    /// The setting that makes this request; none where the profile makes it already. Where another
    /// name is all that is asked for, a key of the dialect says it.
    pub(crate) fn setting(&self) -> Option<Setting> {
        let mut sent = self.fields.clone();
        sent.retain(|it| !self.own.contains(it) || !self.is_placed(it));
        let name = match (&self.own[..], &sent[..]) {
            (own, sent) if own == sent => return None,
            ([_], []) => "NAME",
            ([own], [it]) if it.1 == own.1 => &it.0,
            _ => {
                let key = format!("write.{}", self.kind.as_str());
                return Some(Setting::new(key, self.expression(&sent)));
            }
        };
        let key = self.kind.fields().iter().find(|it| *it.0 == self.own[0].1[1..])?.1;
        Some(Setting::new(format!("dialect.{key}"), name))
    }

    fn expression(&self, sent: &[(String, String)]) -> String {
        let own = self.own.iter().map(|it| it.1.as_str());
        let left_out: Vec<_> = own.filter(|own| sent.iter().all(|it| it.0 != own[1..])).collect();
        let mut text = match left_out[..] {
            [] => ".".to_owned(),
            _ => format!("del({})", left_out.join(", ")),
        };
        let mut is_filled = false;
        for (name, value) in sent.iter().filter(|it| it.1[1..] != it.0) {
            is_filled |= value != HOLE;
            let field = name.rsplit('.').fold(value.clone(), |value, part| {
                format!("{{{}: {value}}}", jq_key(part).trim_start_matches('.'))
            });
            text.push_str(&format!(" * {field}"));
        }
        // What is not asked for is not sent either. A search of slots has all its fields.
        if is_filled && self.kind != WriteKind::Slots {
            text.push_str(" | with_entries(select(.value != null))");
        }
        text
    }

    pub(crate) fn command(&self) -> Option<String> {
        let setting = self.setting()?.to_string();
        Some(set_command(self.profile.as_deref(), &shell::word(&setting)))
    }
}

#[cfg(test)]
mod tests;
