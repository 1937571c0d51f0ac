//! What a search asks for: its fields, from what its refusals name. A field is filled with a value of the form that is
//! asked for, and by trial where none is said.

use super::Certain;
use crate::adapter::{Adapter, WriteKind, jq_key};
use crate::client::Named;

/// What a field may hold: a field of the contract's request, and the jq expression for it.
type Holds = (&'static str, &'static str);

const TIME: &str = "datetime";
const OFFSET: &str = ".datetime";
const LOCAL: &str = ".datetime[:16]";
const DAY: &str = ".datetime[:10]";
const CLOCK: &str = ".datetime[11:16]";
const UTC: &str = "(.datetime | fromdateiso8601 | todateiso8601)";
// The row of a batch may have a time as it came, which is a number already.
const SECONDS: &str = "(.datetime | if type == \"string\" then fromdateiso8601 else . end)";
const MILLISECONDS: &str =
    "(.datetime | if type == \"string\" then fromdateiso8601 * 1000 else . end)";
const PARTY: Holds = ("party_size", ".party_size");

/// In the order in which they are tried.
const TRIED: [Holds; 9] = [
    ("venue_id", ".venue_id"),
    (TIME, OFFSET),
    PARTY,
    (TIME, LOCAL),
    (TIME, DAY),
    (TIME, CLOCK),
    (TIME, MILLISECONDS),
    (TIME, SECONDS),
    (TIME, UTC),
];

/// What refusals say of a time, and the form that they ask for. The first that fits counts.
const SAID: [(&[&str], &str); 7] = [
    (&["milli", "epoch_ms"], MILLISECONDS),
    (&["epoch", "unix", "seconds", "timestamp"], SECONDS),
    (
        &["without", "local time", "yyyy-mm-ddt", "yyyy-mm-dd hh"],
        LOCAL,
    ),
    (&["utc"], UTC),
    (
        &[
            "rfc 3339",
            "rfc3339",
            "iso 8601",
            "iso8601",
            "offset",
            "date and time",
        ],
        OFFSET,
    ),
    (&["hh:mm", "hours and minutes", "time of day"], CLOCK),
    (&["yyyy-mm-dd", "a date", "a day"], DAY),
];

/// The contract's own words in a field's name: `venueId`, `filter.party-size`, `startTime`.
const WORDS: [(&str, Holds); 6] = [
    ("venue", TRIED[0]),
    ("party", PARTY),
    ("provider", ("provider", ".provider")),
    ("datetime", TRIED[1]),
    ("time", TRIED[1]),
    ("date", TRIED[1]),
];

/// What the last part of a field's name says.
fn of_name(path: &str) -> Option<Holds> {
    let last = path.rsplit('.').next().unwrap_or_default();
    let apart = |c: char| {
        let before = if c.is_ascii_uppercase() { "_" } else { "" };
        format!("{before}{}", c.to_ascii_lowercase())
    };
    let words: String = last.chars().map(apart).collect();
    let has = |own: &str| words.split(['_', '-']).any(|word| word == own);
    let known = WORDS.iter().find(|(word, _)| has(word));
    known.map(|(_, holds)| *holds)
}

#[derive(Clone, Debug, PartialEq)]
struct Field {
    path: String,
    /// `None` where nothing that bookctl knows was taken.
    holds: Option<Holds>,
    tried: Vec<Holds>,
    /// Whether neither its name nor a refusal says what it holds.
    is_guess: bool,
    /// What the service says of it.
    why: String,
}

impl Field {
    fn new(path: &str) -> Self {
        Field {
            path: path.to_owned(),
            holds: None,
            tried: Vec::new(),
            is_guess: false,
            why: String::new(),
        }
    }

    /// The field of the contract that it stands for.
    fn own(&self) -> Option<&'static str> {
        self.holds.map(|it| it.0)
    }
}

/// A search as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    kind: WriteKind,
    /// The request that the profile makes.
    first: Vec<Field>,
    fields: Vec<Field>,
    /// The settings for the names of fields.
    keys: Vec<(&'static str, &'static str)>,
}

impl Asked {
    pub(super) fn new(adapter: &Adapter, kind: WriteKind) -> Self {
        let named = adapter.names_of(kind);
        let all: &[Holds] = match kind {
            WriteKind::Search => &[TRIED[1], PARTY, ("providers", ".providers")],
            _ => &TRIED[..3],
        };
        let field = |holds: &Holds| {
            let name = named.iter().find(|it| it.0 == holds.0);
            Field {
                holds: Some(*holds),
                tried: vec![*holds],
                ..Field::new(name.map_or(holds.0, |it| it.2))
            }
        };
        let first: Vec<Field> = all.iter().map(field).collect();
        Asked {
            kind,
            fields: first.clone(),
            first,
            keys: named.iter().map(|(own, key, _)| (*own, *key)).collect(),
        }
    }

    /// Takes in what a refusal names. Returns whether the request is another one now.
    pub(super) fn take(&mut self, named: &[Named]) -> bool {
        let before = self.fields.clone();
        for it in named {
            let mut fields = self.fields.iter();
            let at = fields.position(|field| field.path == it.name);
            let mut fields = self.fields.iter();
            let moved = fields.position(|field| field.own() == Some(it.name.as_str()));
            match (at, moved) {
                (Some(at), _) if it.is_unknown() => drop(self.fields.remove(at)),
                (Some(at), _) => self.fill(at, &it.why),
                (None, _) if it.is_unknown() => {}
                // The contract's own name is asked for after all.
                (None, Some(at)) => self.fill(at, ""),
                (None, None) => {
                    self.fields.push(Field::new(&it.name));
                    self.fill(self.fields.len() - 1, &it.why);
                }
            }
        }
        self.fields != before
    }

    /// Fills a field with the next value that it may want.
    fn fill(&mut self, at: usize, why: &str) {
        let mut field = self.fields.remove(at);
        let before = field.own();
        let others: Vec<&str> = self.changed().filter_map(Field::own).collect();
        let lower = why.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|it| lower.contains(it));
        let form = SAID.iter().find(|(words, _)| says(words));
        let is_number = lower.contains("number") || lower.contains("integer");
        let name = of_name(&field.path);
        let said = match form {
            Some((_, form)) => Some((TIME, *form)),
            None if is_number && before == Some(TIME) && name != Some(PARTY) => {
                Some((TIME, SECONDS))
            }
            None => Some(PARTY).filter(|_| is_number),
        };
        let may_hold = |it: &Holds| {
            let is_own = name.is_none_or(|name| name.0 == it.0);
            let is_free = before.or(name.map(|it| it.0)) == Some(it.0) || !others.contains(&it.0);
            // A number may be anything, unless what is beside it has other names too.
            let is_known = *it != PARTY || name.is_some() || !others.is_empty();
            let is_asked = self.kind != WriteKind::Search || *it != TRIED[0];
            is_own && is_free && is_known && is_asked
        };
        let candidates = name.into_iter().chain(TRIED).filter(may_hold);
        // What nothing is left for gets a number, so that the refusal says what it wants.
        let last = Some(PARTY).filter(|_| name.is_none() && !others.is_empty());
        let mut next = said.into_iter().chain(candidates).chain(last);
        field.holds = next.find(|it| !field.tried.contains(it));
        field.tried.extend(field.holds);
        field.is_guess = name.is_none() && (said.is_none() || field.holds != said);
        // That it is required says less than what it must be.
        if field.why.is_empty() || !why.is_empty() && !why.ends_with("required") {
            field.why = why.to_owned();
        }
        self.fields.insert(at, field);
        // A value stands under the contract's own name where it has no other.
        for own in self.first.clone() {
            let is_moved = self.changed().any(|it| it.own() == own.own());
            if is_moved {
                self.fields.retain(|it| *it != own);
            } else if before == own.own() && !self.has(&own) {
                self.fields.push(own);
            }
        }
    }

    fn changed(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|it| !self.first.contains(it))
    }

    fn has(&self, own: &Field) -> bool {
        self.fields.iter().any(|it| it.own() == own.own())
    }

    /// Whether each value stands in one field; a time may stand in several.
    pub(super) fn is_certain(&self) -> bool {
        let all = self.fields.iter().filter_map(Field::own);
        let all: Vec<&str> = all.filter(|it| *it != TIME).collect();
        (1..)
            .zip(&all)
            .all(|(after, name)| !all[after..].contains(name))
    }

    /// The settings that make this request; none where the profile makes it already.
    pub(super) fn settings(&self) -> Vec<Certain> {
        let what = match self.kind {
            WriteKind::Search => "venue search",
            _ => "availability search",
        };
        let asks = |field: &Field| format!("the {what} asks for `{}`", field.path);
        let left_out: Vec<&Field> = self.first.iter().filter(|own| !self.has(own)).collect();
        let renamed = self.changed().map(|field| {
            // A key says the name of a field, and not what stands in it.
            let own = self
                .first
                .iter()
                .find(|own| own.holds == field.holds)?
                .own()?;
            let (_, key) = self.keys.iter().find(|(name, _)| *name == own)?;
            Some(Certain::new(
                format!("dialect.{key}"),
                &field.path,
                asks(field),
            ))
        });
        let renamed: Option<Vec<Certain>> = renamed.collect();
        let is_whole = left_out.is_empty() && self.fields.len() == self.first.len();
        if let Some(renamed) = renamed.filter(|_| is_whole) {
            return renamed;
        }
        let names = |fields: Vec<&Field>| {
            let names: Vec<String> = fields.iter().map(|it| format!("`{}`", it.path)).collect();
            Some(names.join(", ")).filter(|it| !it.is_empty())
        };
        let asks = names(self.changed().collect()).map(|it| format!("asks for {it}"));
        let refuses = names(left_out).map(|it| format!("refuses {it}"));
        let why: Vec<String> = asks.into_iter().chain(refuses).collect();
        let why = format!("the {what} {}", why.join(" and "));
        vec![Certain::new(self.key(), &self.expression(false), why)]
    }

    /// The setting that can write such a request.
    pub(super) fn key(&self) -> String {
        format!("write.{}", self.kind.as_str())
    }

    /// The expression that writes the request, with holes for what could not be filled in or without them.
    fn expression(&self, with_holes: bool) -> String {
        let mut dropped: Vec<&str> = Vec::new();
        for name in self.first.iter().chain(&self.fields).filter_map(Field::own) {
            if !dropped.contains(&name) && !self.fields.iter().any(|it| it.path == name) {
                dropped.push(name);
            }
        }
        let mut text = if dropped.is_empty() {
            ".".to_owned()
        } else {
            format!("del(.{})", dropped.join(", ."))
        };
        let whole = self
            .fields
            .iter()
            .filter(|it| it.holds == Some((TIME, OFFSET)));
        // Two whole times are the ends of a day.
        let mut ends = ["23:59:59", "00:00:00"][..if whole.count() == 2 { 2 } else { 0 }].to_vec();
        let fields = self.fields.iter();
        for field in fields.filter(|it| with_holes || it.holds.is_some()) {
            let mut value = field.holds.map_or("<?>", |it| it.1).to_owned();
            if value == OFFSET
                && let Some(end) = ends.pop()
            {
                value = format!("(.datetime[:11] + \"{end}\" + .datetime[19:])");
            }
            if value != format!(".{}", field.path) {
                for part in field.path.rsplit('.') {
                    value = format!("{{{}: {value}}}", jq_key(part).trim_start_matches('.'));
                }
                text.push_str(&format!(" * {value}"));
            }
        }
        let is_optional =
            |it: &Field| self.kind == WriteKind::Search || it.own() == Some("provider");
        if self.changed().any(is_optional) {
            text.push_str(" | with_entries(select(.value != null))");
        }
        text
    }

    /// The fields that only a person can fill, with what the service says of them, and the setting with holes for them.
    pub(super) fn unfilled(&self) -> Option<(String, String)> {
        let mut known = self.clone();
        for at in 0..known.fields.len() {
            if known.fields[at].is_guess {
                // What was tried there is not known to have another place.
                let own = known.fields[at].own();
                let own = self.first.iter().find(|first| first.own() == own);
                known.fields[at].holds = None;
                known
                    .fields
                    .extend(own.filter(|own| !known.has(own)).cloned());
            }
        }
        let shown = |it: &Field| match it.why.as_str() {
            "" => format!("`{}`", it.path),
            why => format!("`{}` ({why})", it.path),
        };
        let unfilled = known.fields.iter().filter(|it| it.holds.is_none());
        let names: Vec<String> = unfilled.map(shown).collect();
        let setting = format!("{}={}", known.key(), known.expression(true));
        (!names.is_empty()).then(|| (names.join(", "), setting))
    }

    /// Whether the refusals have asked for the provider.
    pub(super) fn wants_provider(&self) -> bool {
        self.fields.iter().any(|it| it.own() == Some("provider"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::named;
    use serde_json::{Value, json};

    /// What is found at a service that answers in these ways, one after the other.
    fn found(kind: WriteKind, refusals: &[Value]) -> Asked {
        let mut asked = Asked::new(&Adapter::default(), kind);
        for refusal in refusals {
            assert!(asked.take(&named(refusal)), "{refusal}: {asked:?}");
        }
        asked
    }

    fn settings(asked: &Asked) -> Vec<String> {
        asked.settings().iter().map(Certain::assignment).collect()
    }

    #[test]
    fn a_service_that_names_only_its_own_fields_is_asked_by_the_dialects_keys() {
        let required = json!({"error": "validation failed", "errors": [
            {"source": {"pointer": "/filter/venue"}, "detail": "is required"},
            {"source": {"pointer": "/filter/starts-at"}, "detail": "is required"},
            {"source": {"pointer": "/filter/party-size"}, "detail": "is required"},
        ]});
        assert_eq!(
            settings(&found(WriteKind::Slots, &[required])),
            [
                "dialect.slots_venue_field=filter.venue",
                "dialect.slots_datetime_field=filter.starts-at",
                "dialect.slots_party_size_field=filter.party-size",
            ]
        );
        let asked = found(
            WriteKind::Slots,
            &[json!({"error": "x", "invalid": ["venue", "when", "people"]})],
        );
        assert_eq!(
            settings(&asked)[1..],
            [
                "dialect.slots_datetime_field=when",
                "dialect.slots_party_size_field=people"
            ]
        );
        assert!(found(WriteKind::Slots, &[]).settings().is_empty());
    }

    #[test]
    fn a_value_has_the_form_that_the_refusal_speaks_of() {
        let says = |name: &str, why: &str| json!({"error": "x", "field": name, "detail": why});
        let texts = |texts: &[&str]| json!({"error": "x", "details": texts});
        for (refusals, expected) in [
            (
                vec![
                    texts(&[
                        "restaurant.venue_id is required",
                        "on is required",
                        "from is required",
                        "table.covers is required",
                    ]),
                    says("on", "YYYY-MM-DD was expected"),
                    says("from", "HH:MM was expected"),
                ],
                "del(.venue_id, .datetime, .party_size) * {restaurant: {venue_id: .venue_id}} * {on: .datetime[:10]} \
                 * {from: .datetime[11:16]} * {table: {covers: .party_size}}",
            ),
            (
                vec![
                    json!({"error": "validation failed: for_venue is required; at is required; provider_id is required"}),
                    says("at", "a number was expected"),
                ],
                "del(.venue_id, .datetime, .provider) * {for_venue: .venue_id} * {at: (.datetime | if type == \"string\" \
                 then fromdateiso8601 else . end)} * {provider_id: .provider} | with_entries(select(.value != null))",
            ),
            (
                vec![says("datetime", "expected unix seconds")],
                ". * {datetime: (.datetime | if type == \"string\" then fromdateiso8601 else . end)}",
            ),
            (
                vec![
                    texts(&["window.from is required", "window.to is required"]),
                    says("window.from", "RFC 3339 with an offset was expected"),
                ],
                "del(.datetime) * {window: {from: (.datetime[:11] + \"00:00:00\" + .datetime[19:])}} \
                 * {window: {to: (.datetime[:11] + \"23:59:59\" + .datetime[19:])}}",
            ),
            (
                vec![says("party_size", "unknown field")],
                "del(.party_size)",
            ),
        ] {
            let settings = settings(&found(WriteKind::Slots, &refusals));
            assert_eq!(
                settings,
                [format!("write.slots={expected}")],
                "{refusals:?}"
            );
            assert!(
                Adapter::default().set("write.slots", expected).is_ok(),
                "{expected}"
            );
        }
        let alone = found(WriteKind::Slots, &[json!({"error": "place is required"})]);
        assert_eq!(settings(&alone), ["dialect.slots_venue_field=place"]);
    }

    #[test]
    fn what_only_a_person_knows_stands_as_a_hole() {
        let required = json!({"error": "x", "details": ["venueId is required", "startTime is required", "partySize is required", "channel is required"]});
        let again = json!({"error": "x", "details": ["channel must be one of web, phone"]});
        let mut asked = found(WriteKind::Slots, &[required]);
        while asked.take(&named(&again)) {}
        let (names, setting) = asked.unfilled().unwrap();
        assert!(names.starts_with("`channel`"), "{names}");
        assert_eq!(
            setting,
            "write.slots=del(.venue_id, .datetime, .party_size) * {venueId: .venue_id} * {startTime: .datetime} * \
             {partySize: .party_size} * {channel: <?>}"
        );
    }

    #[test]
    fn what_was_only_tried_is_no_answer() {
        let fields = json!({"error": "x", "missing": ["window.from", "window.to", "currency"]});
        let (names, setting) = found(WriteKind::Slots, &[fields]).unfilled().unwrap();
        assert_eq!(names.matches('`').count(), 6, "{names}");
        let holes = ". * {window: {from: <?>}} * {window: {to: <?>}} * {currency: <?>}";
        assert_eq!(setting, format!("write.slots={holes}"));
    }

    #[test]
    fn a_search_leaves_out_what_is_refused_and_keeps_the_rest() {
        let asked = found(
            WriteKind::Search,
            &[json!({"error": "x", "field": "party_size", "detail": "unknown field"})],
        );
        assert_eq!(settings(&asked), ["write.search=del(.party_size)"]);
        let asked = found(
            WriteKind::Search,
            &[json!({"error": "x", "fields": {"datetime": "must be milliseconds since 1970"}})],
        );
        let setting = settings(&asked).remove(0);
        assert!(setting.contains("fromdateiso8601 * 1000"), "{setting}");
    }
}
