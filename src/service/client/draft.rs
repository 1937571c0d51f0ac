//! What a request has to be, from what refusals name: the settings of a profile that write it so. A
//! field gets what its name or its refusal says, or the one thing that is left; else only a person
//! knows it, and a hole stands for it.

use serde_json::{Map, Value};

use super::named_fields::Named;
use crate::platform::shell;
use crate::service::mapping::{Mapping, Setting, WriteKind, jq_key, set_command};

/// What a field holds: a field of our request, and a jq expression for another form.
type Holds = (&'static str, &'static str);

const AS_IT_IS: &str = "";
const TIME: Holds = ("datetime", AS_IT_IS);
const PARTY: Holds = ("party_size", AS_IT_IS);
const PROVIDER: Holds = ("provider", AS_IT_IS);
// The row of a batch may have a time as it came, which is a number already.
const SECONDS: &str = "(.datetime | if type == \"string\" then fromdateiso8601 else . end)";
const MILLISECONDS: &str =
    "(.datetime | if type == \"string\" then fromdateiso8601 * 1000 else . end)";
const MINUTES: &str = ".datetime[:16]";
const DAY: &str = ".datetime[:10]";

/// What refusals report of a time, separated by `|`, and the form that they want. First fit.
const FORMS: [(&str, &str); 6] = [
    ("milli|epoch_ms", MILLISECONDS),
    ("epoch|unix|seconds|timestamp", SECONDS),
    ("without|local time|yyyy-mm-ddt|yyyy-mm-dd hh", MINUTES),
    ("3339|8601|offset|date and time", AS_IT_IS),
    ("hh:mm|time of day", ".datetime[11:16]"),
    ("yyyy-mm-dd|a date|a day", DAY),
];

/// The contract's own words in a field's name: `venueId`, `filter.party-size`, `startTime`.
const WORDS: [(&str, Holds); 6] = [
    ("venue", ("venue_id", AS_IT_IS)),
    ("party", PARTY),
    ("provider", PROVIDER),
    ("time", TIME),
    ("date", TIME),
    ("day", TIME),
];

/// Names of what an answer is, and not of what it says.
const KINDS: [&str; 4] = ["action", "kind", "method", "type"];

fn last_of(path: &str) -> String {
    path.rsplit('.').next().unwrap_or_default().to_lowercase()
}

fn of_name(path: &str) -> Option<Holds> {
    let last = last_of(path);
    WORDS.iter().find(|(word, _)| last.contains(word)).map(|it| it.1)
}

/// A field that bookctl sends by itself: its path, and the dialect's key that says so.
#[derive(Clone, Debug)]
struct OwnField {
    name: &'static str,
    path: String,
    key: Option<&'static str>,
    /// Whether the service does not know it.
    is_unknown: bool,
}

#[derive(Clone, Debug)]
struct NamedField {
    path: String,
    holds: Option<Holds>,
    /// Whether nothing was said yet of what it holds.
    is_open: bool,
    why: String,
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
    own: Vec<OwnField>,
    named: Vec<NamedField>,
}

impl Draft {
    pub(crate) fn new(mapping: &Mapping, kind: WriteKind) -> Self {
        let own = kind.fields().iter().map(|(name, key)| OwnField {
            name,
            path: mapping.dialect.get(key).unwrap_or(name).to_owned(),
            key: mapping.dialect.get(key).map(|_| *key),
            is_unknown: false,
        });
        Draft {
            kind,
            has_expression: mapping.write.contains_key(&kind),
            is_row: false,
            profile: mapping.profile.clone(),
            own: own.collect(),
            named: Vec::new(),
        }
    }

    pub(crate) fn is_search(&self) -> bool {
        matches!(self.kind, WriteKind::Search | WriteKind::Slots)
    }

    /// The contract's name of the field that is sent as `path`, if the profile may name it.
    pub(crate) fn own_name(&self, path: &str) -> Option<&'static str> {
        let own = self.own.iter().find(|own| own.path == path);
        own.map(|own| own.name)
    }

    /// Leaves what was not asked for to itself, where a request has several fields, but for the
    /// names that the profile gave it.
    pub(crate) fn asked_for(mut self, requested: &Map<String, Value>) -> Self {
        if self.own.len() > 1 {
            self.own.retain(|own| requested.contains_key(own.name) || own.path != own.name);
        }
        self
    }

    /// Takes in what a refusal names. Returns whether the request is another one now.
    pub(crate) fn take<'a>(&mut self, refused: impl IntoIterator<Item = &'a Named>) -> bool {
        let before = self.expression(false);
        for it in refused {
            let at = self.named.iter().position(|field| field.path == it.name);
            let known = at.map(|at| self.named.remove(at));
            if it.is_unknown() {
                let mut own = self.own.iter_mut();
                own.find(|own| own.path == it.name)
                    .into_iter()
                    .for_each(|own| own.is_unknown = true);
                continue;
            }
            let holds = self.find_value(it, known.as_ref());
            let is_another = self.kind == WriteKind::Modify && of_name(&it.name).is_some()
                || KINDS.contains(&&*last_of(&it.name));
            let is_open = known.is_none() && holds.is_none() && !is_another;
            let why = match known {
                // That it is required says less than what it must be.
                Some(known) if it.why.is_empty() || it.why.ends_with("required") => known.why,
                _ => it.why.clone(),
            };
            let field = NamedField { path: it.name.clone(), holds, is_open, why };
            self.named.insert(at.unwrap_or(self.named.len()), field);
        }
        self.expression(false) != before
    }

    /// What the refusal of a field says that it holds, or where it is new, its name.
    fn find_value(&self, it: &Named, known: Option<&NamedField>) -> Option<Holds> {
        let (why, by_name) = (it.why.to_lowercase(), of_name(&it.name));
        let says = |words: &str| words.split('|').any(|word| why.contains(word));
        let is_day = ["date", "day"].contains(&&*last_of(&it.name));
        let wording = match (FORMS.iter().find(|(words, _)| says(words)), known) {
            (Some((_, form)), _) => Some((TIME.0, *form)),
            (None, _) if says("number|integer") => Some(match by_name {
                Some(TIME) => (TIME.0, SECONDS),
                _ => PARTY,
            }),
            (None, None) => by_name,
            (None, Some(known)) => (is_day && known.holds == Some(TIME)).then_some((TIME.0, DAY)),
        };
        wording.filter(|wording| {
            let is_own = self.own.iter().any(|own| own.name == wording.0);
            is_own || *wording == PROVIDER && self.is_search()
        })
    }

    /// What a named field is sent with. A field whose name and description show nothing gets the
    /// only value without a place. In a search of slots it gets the time, so that the rejection
    /// shows what it wants, unless `with_holes`. A search of venues is not sent twice: there it is a
    /// hole.
    fn held(&self, field: &NamedField, with_holes: bool) -> Option<Holds> {
        let is_told =
            of_name(&field.path).is_some() || field.holds.is_some_and(|it| it.0 == TIME.0);
        if with_holes && self.kind == WriteKind::Search && !is_told {
            return None;
        }
        if !field.is_open {
            return field.holds;
        }
        let is_placed = |own: &OwnField| {
            let mut named = self.named.iter();
            named.any(|it| it.path == own.path || it.holds.is_some_and(|it| it.0 == own.name))
        };
        let is_some_unknown = self.own.iter().any(|own| own.is_unknown);
        let is_free = |own: &&OwnField| own.is_unknown >= is_some_unknown && !is_placed(own);
        let mut free = self.own.iter().filter(is_free);
        let is_only = self.named.iter().filter(|it| it.is_open).count() == 1;
        match (free.next(), free.next()) {
            (Some(own), None) if is_only => Some((own.name, AS_IT_IS)),
            _ => (self.is_search() && !with_holes).then_some(TIME),
        }
    }

    /// Whether each value stands in one field; a time may stand in several.
    pub(crate) fn is_certain(&self) -> bool {
        let held = self.named.iter().filter_map(|it| self.held(it, false));
        let held: Vec<Holds> = held.filter(|it| it.0 != TIME.0).collect();
        let is_once = |it: &Holds| held.iter().filter(|other| other.0 == it.0).count() == 1;
        held.iter().all(is_once)
    }

    pub(crate) fn wants_provider(&self) -> bool {
        self.named.iter().any(|it| it.holds == Some(PROVIDER))
    }

    /// The setting that makes this request; none where the profile makes it already. Where another
    /// name is all that is asked for, a key of the dialect says it. With holes, `<?>` and `NAME`
    /// stand for what only a person knows.
    pub(crate) fn setting(&self, with_holes: bool) -> Option<Setting> {
        let renamed = match (&self.own[..], &self.named[..]) {
            ([own], [field]) => {
                let is_own = self.held(field, with_holes) == Some((own.name, AS_IT_IS));
                is_own.then_some((own, &*field.path))
            }
            ([own], []) => (own.is_unknown && with_holes).then_some((own, "NAME")),
            _ => None,
        };
        if let Some((OwnField { key: Some(key), .. }, name)) = renamed {
            return Some(Setting::new(format!("dialect.{key}"), name));
        }
        let sent = self.sent(with_holes);
        let is_own = |own: &OwnField| sent.contains(&(&own.path, Some((own.name, AS_IT_IS))));
        let is_written_so = sent.len() == self.own.len() && self.own.iter().all(is_own);
        let key = format!("write.{}", self.kind.as_str());
        (!is_written_so).then(|| Setting::new(key, self.expression(with_holes)))
    }

    /// The paths that are sent with what they hold: the profile's own, unless the service does not
    /// know them or another field holds the same, and the named ones. With holes, those that only a
    /// person knows are among them, without a value.
    fn sent(&self, with_holes: bool) -> Vec<(&str, Option<Holds>)> {
        let named = self.named.iter().map(|it| (it.path.as_str(), self.held(it, with_holes)));
        let named: Vec<_> = named.filter(|it| with_holes || it.1.is_some()).collect();
        let is_moved = |own: &OwnField| {
            let mut held = named.iter().filter_map(|it| it.1);
            own.is_unknown || held.any(|it| it.0 == own.name)
        };
        let own = self.own.iter().filter(|own| !is_moved(own));
        let own = own.map(|own| (own.path.as_str(), Some((own.name, AS_IT_IS))));
        own.chain(named.iter().copied()).collect()
    }

    fn expression(&self, with_holes: bool) -> String {
        let sent = self.sent(with_holes);
        let provider = self.wants_provider().then_some(PROVIDER.0);
        let mut left_out: Vec<&str> = self.own.iter().map(|own| own.name).collect();
        left_out.extend(provider);
        left_out.retain(|name| !sent.iter().any(|(path, _)| path == name));
        let mut text = match left_out[..] {
            [] => ".".to_owned(),
            _ => format!("del(.{})", left_out.join(", .")),
        };
        let mut is_filled = false;
        for (path, holds) in &sent {
            let mut value = match holds {
                None => "<?>".to_owned(),
                Some((name, AS_IT_IS)) => format!(".{name}"),
                Some((_, form)) => (*form).to_owned(),
            };
            if value != format!(".{path}") {
                for part in path.rsplit('.') {
                    value = format!("{{{}: {value}}}", jq_key(part).trim_start_matches('.'));
                }
                text.push_str(&format!(" * {value}"));
                is_filled |= holds.is_some();
            }
        }
        // What is not asked for is not sent either.
        if provider.is_some() || is_filled && self.kind != WriteKind::Slots {
            text.push_str(" | with_entries(select(.value != null))");
        }
        text
    }

    /// The fields that only a person knows, each with the service's words, and what of the request
    /// has no place yet.
    pub(crate) fn open(&self) -> Option<String> {
        let open = self.named.iter().filter(|it| self.held(it, true).is_none());
        let names = open.map(|it| match it.why.as_str() {
            "" => format!("`{}`", it.path),
            why => format!("`{}` ({why})", it.path),
        });
        let names = names.collect::<Vec<_>>().join(", ");
        let own: Vec<&str> = self.own.iter().map(|own| own.name).collect();
        (!names.is_empty()).then(|| format!("{names}; the request has .{}", own.join(", .")))
    }

    pub(crate) fn command(&self) -> Option<String> {
        let setting = self.setting(true)?.to_string();
        Some(set_command(self.profile.as_deref(), &shell::word(&setting)))
    }
}

#[cfg(test)]
mod tests;
