//! What a request has to be, from what refusals name: the settings of a profile that write it so. A
//! field gets what its name or its refusal says, or the one thing that is left; else only a person
//! knows it, and a hole stands for it.

use super::named_fields::Field;
use crate::platform::shell;
use crate::service::mapping::{Mapping, Setting, WriteKind, jq_key, set_command};

/// What stands for a value that only a person knows.
const HOLE: &str = "<?>";

// Values of fields, as expressions over a request in our shape.
const TIME: &str = ".datetime";
const PARTY: &str = ".party_size";
// The row of a batch may have a time as it came, which is a number already.
const SECONDS: &str = "(.datetime | if type == \"string\" then fromdateiso8601 else . end)";
const MILLISECONDS: &str =
    "(.datetime | if type == \"string\" then fromdateiso8601 * 1000 else . end)";

/// A value; what refusals report where they want it; and the contract's own words in the last name
/// of such a field, which stands between `^` and `$`. First fit.
const VALUES: [(&str, &str, &str); 10] = [
    // What an answer is, and not what it says: only a person knows it.
    ("", "", "^action$|^kind$|^method$|^type$"),
    (MILLISECONDS, "milli|epoch_ms", ""),
    (SECONDS, "epoch|unix|seconds|timestamp", ""),
    (".datetime[:16]", "without|local time|yyyy-mm-ddt|yyyy-mm-dd hh", ""),
    (TIME, "3339|8601|offset|date and time", ""),
    (".datetime[11:16]", "hh:mm|time of day", ""),
    (".datetime[:10]", "yyyy-mm-dd|a date|a day", "^date$|^day$"),
    (".venue_id", "", "venue"),
    (PARTY, "number|integer", "party"),
    (TIME, "", "time|date|day"),
];

fn is_about(words: &str, text: &str) -> bool {
    !words.is_empty() && words.split('|').any(|word| text.contains(word))
}

fn value_by_name(path: &str) -> Option<&'static str> {
    let last = format!("^{}$", path.rsplit('.').next()?.to_lowercase());
    VALUES.iter().find(|it| is_about(it.2, &last)).map(|it| it.0)
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
    /// What bookctl sends by itself: the contract's names, with the keys of the dialect.
    own: Vec<(&'static str, &'static str)>,
    fields: Vec<Field>,
}

impl Draft {
    /// Leaves what was not asked for to itself, where a request has several fields, but for the
    /// names that the profile gave it.
    pub(crate) fn new(mapping: &Mapping, kind: WriteKind, asks: impl Fn(&str) -> bool) -> Self {
        let mut own = kind.fields().to_vec();
        let path = |(name, key): (&'static str, &str)| mapping.dialect.get(key).unwrap_or(name);
        if own.len() > 1 {
            own.retain(|it| asks(it.0) || path(*it) != it.0);
        }
        let fields = own.iter().map(|it| Field {
            name: path(*it).to_owned(),
            value: Some(format!(".{}", it.0)),
            is_own: true,
            ..Field::default()
        });
        Draft {
            kind,
            has_expression: mapping.write.contains_key(&kind),
            is_row: false,
            profile: mapping.profile.clone(),
            fields: fields.collect(),
            own,
        }
    }

    pub(crate) fn is_search(&self) -> bool {
        matches!(self.kind, WriteKind::Search | WriteKind::Slots)
    }

    /// The contract's name of the field that is sent as `path`, if the profile may name it.
    pub(crate) fn own_name(&self, path: &str) -> Option<&str> {
        self.fields.iter().find(|it| it.is_own && it.name == path)?.value.as_deref()?.get(1..)
    }

    /// What is sent for a value that nothing shows. A search tries the time, so that the next
    /// refusal shows what is wanted.
    fn tried(&self) -> &'static str {
        if self.is_search() { TIME } else { "" }
    }

    /// Takes in what a refusal names. Returns whether the request is another one now.
    pub(crate) fn take(&mut self, refused: impl IntoIterator<Item = Field>) -> bool {
        if self.has_expression {
            return false;
        }
        let before = self.expression(self.tried());
        for mut it in refused {
            let at = self.fields.iter().position(|field| field.name == it.name);
            let known = at.map(|at| self.fields.remove(at));
            if it.is_unknown() {
                continue;
            }
            it.value = self.find_value(&it, known.as_ref().is_none_or(|field| field.is_own));
            let is_same = |own: &Field| own.is_own && (it.value.is_none() || it.value == own.value);
            let field = known.filter(is_same).unwrap_or(it);
            self.fields.insert(at.unwrap_or(self.fields.len()), field);
        }
        self.place_rest();
        self.expression(self.tried()) != before
    }

    /// Puts the only value that has no place into the only field of which nothing shows what it
    /// holds. A search of venues is not sent twice to test it: there the service has to refuse the
    /// value's own place.
    fn place_rest(&mut self) {
        let has_place = |name: &str, is_own| {
            self.sent("").any(|(it, value)| it.is_own == is_own && value.contains(name))
        };
        let mut left = self.own.clone();
        left.retain(|it| !has_place(it.0, false));
        if self.kind == WriteKind::Search || left.iter().any(|it| !has_place(it.0, true)) {
            left.retain(|it| !has_place(it.0, true));
        }
        let is_open = |it: &&mut Field| it.value.is_none() && value_by_name(&it.name).is_none();
        let mut open = self.fields.iter_mut().filter(is_open);
        if let ([(name, _)], Some(field), None) = (&left[..], open.next(), open.next()) {
            field.value = Some(format!(".{name}"));
        }
    }

    /// What the refusal of a field says that it holds, or where it is new, its name.
    fn find_value(&self, it: &Field, is_new: bool) -> Option<String> {
        let why = it.why.to_lowercase();
        let by_name = value_by_name(&it.name);
        let value = match VALUES.iter().find(|row| is_about(row.1, &why)).map(|row| row.0) {
            // What is just a number is a time by its name alone.
            Some(PARTY) => match by_name {
                Some(time) if time.starts_with(TIME) => Some(SECONDS),
                // A search of venues is not sent twice to test it.
                None if self.kind != WriteKind::Search => Some(PARTY),
                other => other,
            },
            None => by_name.filter(|_| is_new),
            form => form,
        };
        let is_own = |value: &&str| self.own.iter().any(|it| value.contains(it.0));
        value.filter(is_own).map(str::to_owned)
    }

    /// The setting that makes this request; none where the profile makes it already. Where another
    /// name is all that is asked for, a key of the dialect says it. With holes, `<?>` and `NAME`
    /// stand for what only a person knows; without, what was tried counts.
    pub(crate) fn setting(&self, with_holes: bool) -> Option<Setting> {
        let hole = if with_holes { HOLE } else { self.tried() };
        let sent: Vec<_> = self.sent(hole).collect();
        if sent.len() == self.own.len() && sent.iter().all(|it| it.0.is_own) {
            return None;
        }
        let (key, value) = match (&self.own[..], &sent[..]) {
            ([(name, key)], [(field, value)]) if value[1..] == **name => {
                (format!("dialect.{key}"), field.name.clone())
            }
            ([(_, key)], []) if with_holes => (format!("dialect.{key}"), "NAME".to_owned()),
            _ => (format!("write.{}", self.kind.as_str()), self.expression(hole)),
        };
        Some(Setting::new(key, value))
    }

    /// What is sent, with its values. What has another place is not sent by itself.
    fn sent<'a>(&'a self, hole: &'static str) -> impl Iterator<Item = (&'a Field, &'a str)> {
        let value = move |it: &'a Field| it.value.as_deref().unwrap_or(hole);
        let is_moved = move |own: &'a Field| {
            let mut others = self.fields.iter().filter(|it| own.is_own && !it.is_own);
            others.any(|it| value(it).contains(value(own)))
        };
        let sent = self.fields.iter().filter(move |it| !is_moved(it));
        sent.map(move |it| (it, value(it))).filter(|(_, value)| !value.is_empty())
    }

    fn expression(&self, hole: &'static str) -> String {
        let mut left_out: Vec<&str> = self.own.iter().map(|it| it.0).collect();
        left_out.retain(|name| !self.sent(hole).any(|(it, _)| it.name == *name));
        let mut text = match left_out[..] {
            [] => ".".to_owned(),
            _ => format!("del(.{})", left_out.join(", .")),
        };
        let mut is_filled = false;
        for (it, value) in self.sent(hole).filter(|(it, value)| value[1..] != it.name) {
            is_filled |= value != HOLE;
            let field = it.name.rsplit('.').fold(value.to_owned(), |value, part| {
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

    /// The fields that only a person knows, each with the service's words, and what of the request
    /// has no place yet.
    pub(crate) fn open(&self) -> Option<String> {
        let open = self.sent(HOLE).filter(|(_, value)| *value == HOLE);
        let names = open.map(|(it, _)| match it.why.as_str() {
            "" => format!("`{}`", it.name),
            why => format!("`{}` ({why})", it.name),
        });
        let names = names.collect::<Vec<_>>().join(", ");
        let own = self.own.iter().map(|it| format!(".{}", it.0)).collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| format!("{names}; the request has {own}"))
    }

    pub(crate) fn command(&self) -> Option<String> {
        let setting = self.setting(true)?.to_string();
        Some(set_command(self.profile.as_deref(), &shell::word(&setting)))
    }
}

#[cfg(test)]
mod tests;
