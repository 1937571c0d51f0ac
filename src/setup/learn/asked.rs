//! What a search asks for: its fields, from what its refusals name. A field gets what its name or a refusal says. One that
//! neither speaks of gets the time, so that the refusal of it says what it wants; else a person fills it.

use super::{Certain, Refused};
use crate::service::client::Named;
use crate::service::mapping::{Adapter, WriteKind, jq_key};

/// What a field holds: a field of the contract's request, and the jq expression for it.
type Holds = (&'static str, &'static str);

const VENUE: Holds = ("venue_id", ".venue_id");
const TIME: Holds = ("datetime", ".datetime");
const PARTY: Holds = ("party_size", ".party_size");
const PROVIDER: Holds = ("provider", ".provider");
// The row of a batch may have a time as it came, which is a number already.
const SECONDS: &str = "(.datetime | if type == \"string\" then fromdateiso8601 else . end)";
const MILLISECONDS: &str =
    "(.datetime | if type == \"string\" then fromdateiso8601 * 1000 else . end)";

/// What refusals say of a time, separated by `|`, and the form that they ask for. The first that fits counts.
const FORMS: [(&str, &str); 7] = [
    ("milli|epoch_ms", MILLISECONDS),
    ("epoch|unix|seconds|timestamp", SECONDS),
    (
        "without|local time|yyyy-mm-ddt|yyyy-mm-dd hh",
        ".datetime[:16]",
    ),
    ("utc", "(.datetime | fromdateiso8601 | todateiso8601)"),
    (
        "rfc 3339|rfc3339|iso 8601|iso8601|offset|date and time",
        TIME.1,
    ),
    ("hh:mm|hours and minutes|time of day", ".datetime[11:16]"),
    ("yyyy-mm-dd|a date|a day", ".datetime[:10]"),
];

/// The contract's own words in a field's name: `venueId`, `filter.party-size`, `startTime`.
const WORDS: [(&str, Holds); 5] = [
    ("venue", VENUE),
    ("party", PARTY),
    ("provider", PROVIDER),
    ("time", TIME),
    ("date", TIME),
];

fn of_name(path: &str) -> Option<Holds> {
    let last = path.rsplit('.').next()?.to_lowercase();
    let mut known = WORDS.iter();
    known.find(|(word, _)| last.contains(word)).map(|it| it.1)
}

#[derive(Debug, Default)]
struct MissingField {
    path: String,
    /// `None` where only a person knows.
    holds: Option<Holds>,
    /// Whether neither its name nor a refusal says what it holds.
    is_guess: bool,
    why: String,
}

impl MissingField {
    fn fill(&mut self, why: &str, is_new: bool) {
        let lower = why.to_lowercase();
        let name = of_name(&self.path);
        let says = |words: &str| words.split('|').any(|it| lower.contains(it));
        let said = if let Some((_, form)) = FORMS.iter().find(|(words, _)| says(words)) {
            Some((TIME.0, *form))
        } else if says("number|integer") {
            let is_time = name == Some(TIME);
            Some(if is_time { (TIME.0, SECONDS) } else { PARTY })
        } else {
            name.filter(|_| is_new)
        };
        self.is_guess = is_new && said.is_none();
        self.holds = if self.is_guess { Some(TIME) } else { said };
        // That it is required says less than what it must be.
        if self.why.is_empty() || !why.is_empty() && !why.ends_with("required") {
            self.why = why.to_owned();
        }
    }
}

#[derive(Debug)]
pub(crate) struct SearchDraft {
    kind: WriteKind,
    /// The fields that the profile sends: what they hold, their paths, and the settings for their names.
    own: [(Holds, String, Option<&'static str>); 3],
    named: Vec<MissingField>,
    unknown: Vec<String>,
}

impl SearchDraft {
    pub(crate) fn new(adapter: &Adapter, kind: WriteKind) -> Self {
        let all = if kind == WriteKind::Search {
            [TIME, PARTY, ("providers", ".providers")]
        } else {
            [VENUE, TIME, PARTY]
        };
        let names = adapter.names_of(kind);
        let own = all.map(|holds| match names.iter().find(|it| it.0 == holds.0) {
            Some((_, key, path)) => (holds, (*path).to_owned(), Some(*key)),
            None => (holds, holds.0.to_owned(), None),
        });
        SearchDraft {
            kind,
            own,
            named: Vec::new(),
            unknown: Vec::new(),
        }
    }

    /// Takes in what a refusal names. Returns whether the request is another one now.
    pub(crate) fn take(&mut self, refused: &[Named]) -> bool {
        let before = self.expression(false);
        for it in refused {
            if it.is_unknown() {
                self.named.retain(|field| field.path != it.name);
                self.unknown.push(it.name.clone());
            } else if let Some(field) = self.named.iter_mut().find(|field| field.path == it.name) {
                field.fill(&it.why, false);
            } else {
                let mut field = MissingField {
                    path: it.name.clone(),
                    ..MissingField::default()
                };
                field.fill(&it.why, true);
                self.named.push(field);
            }
        }
        self.expression(false) != before
    }

    /// Whether each value stands in one field; a time may stand in several.
    pub(crate) fn is_certain(&self) -> bool {
        let held = self.named.iter().filter_map(|it| it.holds);
        let held: Vec<Holds> = held.filter(|it| it.0 != TIME.0).collect();
        let is_once = |it: &Holds| held.iter().filter(|other| other.0 == it.0).count() == 1;
        held.iter().all(is_once)
    }

    pub(crate) fn wants_provider(&self) -> bool {
        self.named.iter().any(|it| it.holds == Some(PROVIDER))
    }

    pub(crate) fn noun(&self) -> &'static str {
        if self.kind == WriteKind::Search {
            "venue search"
        } else {
            "availability search"
        }
    }

    pub(crate) fn key(&self) -> String {
        format!("write.{}", self.kind.as_str())
    }

    /// The settings that make this request; none where the profile makes it already. Where other names are all that is
    /// asked for, the keys of the dialect say them.
    pub(crate) fn settings(&self) -> Vec<Certain> {
        let why = format!("the {} asks for it", self.noun());
        let is_own = |field: &&MissingField| {
            let mut own = self.own.iter();
            own.any(|(holds, path, _)| field.holds == Some(*holds) && field.path == *path)
        };
        let renamed = self.named.iter().filter(|field| !is_own(field));
        let renamed = renamed.map(|field| {
            let mut own = self.own.iter();
            let (_, _, key) = own.find(|own| Some(own.0) == field.holds)?;
            let key = format!("dialect.{}", (*key)?);
            Some(Certain::new(key, &field.path, why.as_str()))
        });
        match renamed.collect::<Option<Vec<_>>>() {
            Some(renamed) if self.sent(false).len() == self.own.len() => renamed,
            _ => vec![Certain::new(self.key(), &self.expression(false), why)],
        }
    }

    /// The paths that are sent with what they hold: the profile's own, unless the service does not know them or another field
    /// holds the same, and the named ones. With holes, those that only a person knows are among them, without a value.
    fn sent(&self, with_holes: bool) -> Vec<(&str, Option<Holds>)> {
        let held = |it: &MissingField| it.holds.filter(|_| !(with_holes && it.is_guess));
        let is_moved = |holds: &Holds| {
            let mut held = self.named.iter().filter_map(held);
            held.any(|it| it.0 == holds.0)
        };
        let own = self.own.iter();
        let own = own.filter(|(holds, path, _)| !is_moved(holds) && !self.unknown.contains(path));
        let own = own.map(|(holds, path, _)| (path.as_str(), Some(*holds)));
        let named = self.named.iter().map(|it| (it.path.as_str(), held(it)));
        own.chain(named.filter(|it| with_holes || it.1.is_some()))
            .collect()
    }

    fn expression(&self, with_holes: bool) -> String {
        let sent = self.sent(with_holes);
        let mut left_out: Vec<&str> = self.own.iter().map(|it| it.0.0).collect();
        if self.wants_provider() {
            left_out.push(PROVIDER.0);
        }
        left_out.retain(|name| !sent.iter().any(|(path, _)| path == name));
        let mut text = if left_out.is_empty() {
            ".".to_owned()
        } else {
            format!("del(.{})", left_out.join(", ."))
        };
        for (path, holds) in &sent {
            let mut value = holds.map_or("<?>", |it| it.1).to_owned();
            if value != format!(".{path}") {
                for part in path.rsplit('.') {
                    value = format!("{{{}: {value}}}", jq_key(part).trim_start_matches('.'));
                }
                text.push_str(&format!(" * {value}"));
            }
        }
        let is_search = self.kind == WriteKind::Search;
        let is_optional = |it: &MissingField| it.holds.is_some() && is_search;
        if self.wants_provider() || self.named.iter().any(is_optional) {
            text.push_str(" | with_entries(select(.value != null))");
        }
        text
    }

    /// Why the search was not answered, with the setting that has holes for what only a person knows.
    pub(crate) fn refused(&self, message: &str) -> Refused {
        let mut why = format!("the {}: {message}", self.noun());
        let open = self
            .named
            .iter()
            .filter(|it| it.is_guess || it.holds.is_none());
        let names = open.map(|it| match it.why.as_str() {
            "" => format!("`{}`", it.path),
            why => format!("`{}` ({why})", it.path),
        });
        let names: Vec<String> = names.collect();
        let mut setting = None;
        if !names.is_empty() {
            let names = names.join(", ");
            why.push_str(&format!("; only you know the value of {names}"));
            setting = Some(format!("{}={}", self.key(), self.expression(true)));
        }
        Refused { why, setting }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::client::named;
    use serde_json::{Value, json};

    /// What is found at a service that answers in these ways, one after the other.
    fn found(kind: WriteKind, refusals: &[Value]) -> SearchDraft {
        let mut asked = SearchDraft::new(&Adapter::default(), kind);
        for refusal in refusals {
            assert!(asked.take(&named(refusal)), "{refusal}: {asked:?}");
        }
        asked
    }

    fn settings(asked: &SearchDraft) -> Vec<String> {
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
        assert!(found(WriteKind::Slots, &[]).settings().is_empty());
        // A key says no form, and no second field.
        let apart = [
            json!({"error": "x", "missing": ["on", "from"]}),
            json!({"error": "x", "field": "on", "detail": "YYYY-MM-DD was expected"}),
        ];
        let settings = settings(&found(WriteKind::Slots, &apart));
        assert!(settings[0].starts_with("write.slots="), "{settings:?}");
    }

    #[test]
    fn a_value_has_the_form_that_the_refusal_speaks_of() {
        let says = |name: &str, why: &str| json!({"error": "x", "field": name, "detail": why});
        let seconds = "(.datetime | if type == \"string\" then fromdateiso8601 else . end)";
        for (kind, refusals, expected) in [
            (
                WriteKind::Slots,
                vec![
                    json!({"error": "x", "details": [
                        "restaurant.venue_id is required",
                        "on is required",
                        "from is required",
                        "table.covers is required",
                    ]}),
                    says("on", "YYYY-MM-DD was expected"),
                    says("from", "HH:MM was expected"),
                    says("table.covers", "a number was expected"),
                ],
                "slots=del(.venue_id, .datetime, .party_size) * {restaurant: {venue_id: .venue_id}} * {on: .datetime[:10]} \
                 * {from: .datetime[11:16]} * {table: {covers: .party_size}}"
                    .to_owned(),
            ),
            (
                WriteKind::Slots,
                vec![json!({"error": "no: start_time must be a number; provider_id is required"})],
                format!(
                    "slots=del(.datetime, .provider) * {{start_time: {seconds}}} * {{provider_id: .provider}} \
                     | with_entries(select(.value != null))"
                ),
            ),
            (
                WriteKind::Slots,
                vec![says("datetime", "expected unix seconds")],
                format!("slots=. * {{datetime: {seconds}}}"),
            ),
            (
                WriteKind::Search,
                vec![says("party_size", "unknown field")],
                "search=del(.party_size)".to_owned(),
            ),
        ] {
            let settings = settings(&found(kind, &refusals));
            assert_eq!(settings, [format!("write.{expected}")], "{refusals:?}");
            let (key, value) = settings[0].split_once('=').unwrap();
            assert!(Adapter::default().set(key, value).is_ok(), "{value}");
        }
    }

    #[test]
    fn what_only_a_person_knows_stands_as_a_hole() {
        let required = json!({"error": "x", "details": ["venueId is required", "startTime is required", "partySize is required", "channel is required"]});
        let again = json!({"error": "x", "details": ["channel must be one of web, phone"]});
        let mut asked = found(WriteKind::Slots, &[required]);
        while asked.take(&named(&again)) {}
        let refused = asked.refused("no");
        assert_eq!(
            refused.why,
            "the availability search: no; only you know the value of `channel` (must be one of web, phone)"
        );
        assert_eq!(
            refused.setting.unwrap(),
            "write.slots=del(.venue_id, .datetime, .party_size) * {venueId: .venue_id} * {startTime: .datetime} * \
             {partySize: .party_size} * {channel: <?>}"
        );
        // What was only tried is no answer.
        let fields = json!({"error": "x", "missing": ["window.from", "currency"]});
        let refused = found(WriteKind::Slots, &[fields]).refused("no");
        assert!(refused.why.ends_with(" of `window.from`, `currency`"));
        let holes = ". * {window: {from: <?>}} * {currency: <?>}";
        assert_eq!(refused.setting, Some(format!("write.slots={holes}")));
    }
}
