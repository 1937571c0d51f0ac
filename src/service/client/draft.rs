//! What a request has to be, from what refusals name: the settings of a profile that write it so. A field gets what its
//! name or its refusal says, or the one thing that is left; else only a person knows it, and a hole stands for it.

use serde_json::{Map, Value};

use super::named_fields::Named;
use crate::platform::shell;
use crate::service::mapping::{Adapter, WriteKind, jq_key};

/// What a field holds: a field of the contract's request, and a jq expression where it wants another form.
type Holds = (&'static str, &'static str);

const AS_IT_IS: &str = "";
const TIME: Holds = ("datetime", AS_IT_IS);
const PARTY: Holds = ("party_size", AS_IT_IS);
const PROVIDER: Holds = ("provider", AS_IT_IS);
// The row of a batch may have a time as it came, which is a number already.
const SECONDS: &str = "(.datetime | if type == \"string\" then fromdateiso8601 else . end)";
const DAY: &str = ".datetime[:10]";
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
        AS_IT_IS,
    ),
    ("hh:mm|hours and minutes|time of day", ".datetime[11:16]"),
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
    let mut known = WORDS.iter();
    known.find(|(word, _)| last.contains(word)).map(|it| it.1)
}

/// A field that bookctl sends by itself: its path, and the dialect's key that says so.
#[derive(Clone, Debug)]
struct OwnField {
    holds: Holds,
    path: String,
    key: Option<&'static str>,
}

/// A field that a refusal names.
#[derive(Clone, Debug, Default)]
struct NamedField {
    path: String,
    holds: Option<Holds>,
    /// Whether neither its name nor a refusal says what it holds.
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
    unknown: Vec<String>,
}

impl Draft {
    pub(crate) fn new(adapter: &Adapter, kind: WriteKind) -> Self {
        let own = kind.fields().iter().map(|(name, key)| OwnField {
            holds: (*name, AS_IT_IS),
            path: adapter.dialect.get(key).unwrap_or(name).to_owned(),
            key: adapter.dialect.get(key).map(|_| *key),
        });
        Draft {
            kind,
            has_expression: adapter.write.contains_key(&kind),
            is_row: false,
            profile: adapter.profile.clone(),
            own: own.collect(),
            named: Vec::new(),
            unknown: Vec::new(),
        }
    }

    pub(crate) fn is_search(&self) -> bool {
        matches!(self.kind, WriteKind::Search | WriteKind::Slots)
    }

    /// The contract's name of the field that is sent as `path`, if the profile may name it.
    pub(crate) fn own_name(&self, path: &str) -> Option<&'static str> {
        let own = self.own.iter().find(|own| own.path == path);
        own.map(|own| own.holds.0)
    }

    /// Leaves what was not asked for to itself, where a request has several fields.
    pub(crate) fn asked_for(mut self, asked: &Map<String, Value>) -> Self {
        if self.own.len() > 1 {
            self.own.retain(|own| asked.contains_key(own.holds.0));
        }
        self
    }

    /// Takes in what a refusal names. Returns whether the request is another one now.
    pub(crate) fn take(&mut self, refused: &[Named]) -> bool {
        let before = self.expression(false);
        for it in refused {
            if it.is_unknown() {
                self.named.retain(|field| field.path != it.name);
                self.unknown.push(it.name.clone());
            } else if let Some(at) = self.named.iter().position(|field| field.path == it.name) {
                self.fill(at, &it.why, false);
            } else {
                self.named.push(NamedField {
                    path: it.name.clone(),
                    ..NamedField::default()
                });
                self.fill(self.named.len() - 1, &it.why, true);
            }
        }
        self.expression(false) != before
    }

    fn fill(&mut self, at: usize, why: &str, is_new: bool) {
        let lower = why.to_lowercase();
        let says = |words: &str| words.split('|').any(|it| lower.contains(it));
        let named = of_name(&self.named[at].path);
        let said = if let Some((_, form)) = FORMS.iter().find(|(words, _)| says(words)) {
            Some((TIME.0, *form))
        } else if says("number|integer") {
            let is_time = named == Some(TIME);
            Some(if is_time { (TIME.0, SECONDS) } else { PARTY })
        } else if self.named[at].holds == Some(TIME)
            && ["date", "day"].contains(&&*last_of(&self.named[at].path))
        {
            Some((TIME.0, DAY))
        } else {
            named.filter(|_| is_new)
        };
        let is_ours = |it: &Holds| {
            let mut own = self.own.iter();
            own.any(|own| own.holds.0 == it.0) || *it == PROVIDER && self.is_search()
        };
        let said = said.filter(is_ours);
        let field = &mut self.named[at];
        let is_another = self.kind == WriteKind::Modify && named.is_some()
            || KINDS.contains(&&*last_of(&field.path));
        field.is_open = is_new && said.is_none() && !is_another;
        field.holds = said;
        // That it is required says less than what it must be.
        if field.why.is_empty() || !why.is_empty() && !why.ends_with("required") {
            field.why = why.to_owned();
        }
    }

    /// What a named field is sent with. One of which nothing is said gets the only thing that has no other place. A search is
    /// asked again: it gets the time, so that the refusal of it says what it wants, unless that is to be a hole.
    fn held(&self, field: &NamedField, with_holes: bool) -> Option<Holds> {
        if !field.is_open {
            return field.holds;
        }
        let is_placed = |own: &&OwnField| {
            let mut named = self.named.iter();
            named.any(|it| it.path == own.path || it.holds.is_some_and(|it| it.0 == own.holds.0))
        };
        let is_unknown = |own: &OwnField| self.unknown.contains(&own.path);
        let is_some_unknown = self.own.iter().any(is_unknown);
        let free = self.own.iter().filter(|own| !is_placed(own));
        let mut free = free.filter(|own| !is_some_unknown || is_unknown(own));
        let mut open = self.named.iter().filter(|it| it.is_open);
        match (free.next(), free.next(), open.next(), open.next()) {
            (Some(only), None, Some(_), None) => Some(only.holds),
            _ if self.is_search() && !with_holes => Some(TIME),
            _ => None,
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

    /// The settings that make this request; none where the profile makes it already. Where other names are all that is
    /// asked for, the keys of the dialect say them. With holes, `<?>` and `NAME` stand for what only a person knows.
    pub(crate) fn settings(&self, with_holes: bool) -> Vec<(String, String)> {
        let key = |own: &OwnField| Some(format!("dialect.{}", own.key?));
        let is_own = |field: &&NamedField| {
            let held = self.held(field, with_holes);
            let mut own = self.own.iter();
            own.any(|own| held == Some(own.holds) && field.path == own.path)
        };
        let renamed = self.named.iter().filter(|field| !is_own(field));
        let renamed = renamed.map(|field| {
            let held = self.held(field, with_holes)?;
            let own = self.own.iter().find(|own| own.holds == held)?;
            Some((key(own)?, field.path.clone()))
        });
        let renamed: Option<Vec<_>> = renamed.collect();
        let sent = self.sent(with_holes).len();
        let lost = self
            .own
            .iter()
            .filter(|own| self.unknown.contains(&own.path));
        match renamed {
            Some(renamed) if sent == self.own.len() => renamed,
            Some(renamed) if renamed.is_empty() && with_holes && !self.is_search() => {
                let lost = lost.map(|own| Some((key(own)?, "NAME".to_owned())));
                lost.collect::<Option<Vec<_>>>().unwrap_or_default()
            }
            _ => {
                let key = format!("write.{}", self.kind.as_str());
                vec![(key, self.expression(with_holes))]
            }
        }
    }

    /// The paths that are sent with what they hold: the profile's own, unless the service does not know them or another
    /// field holds the same, and the named ones. With holes, those that only a person knows are among them, without a value.
    fn sent(&self, with_holes: bool) -> Vec<(&str, Option<Holds>)> {
        let named = self.named.iter();
        let named = named.map(|it| (it.path.as_str(), self.held(it, with_holes)));
        let named: Vec<_> = named.filter(|it| with_holes || it.1.is_some()).collect();
        let is_moved = |own: &&OwnField| {
            let mut held = named.iter().filter_map(|it| it.1);
            held.any(|it| it.0 == own.holds.0) || self.unknown.contains(&own.path)
        };
        let own = self.own.iter().filter(|own| !is_moved(own));
        let own = own.map(|own| (own.path.as_str(), Some(own.holds)));
        own.chain(named.iter().copied()).collect()
    }

    fn expression(&self, with_holes: bool) -> String {
        let sent = self.sent(with_holes);
        let mut left_out: Vec<&str> = self.own.iter().map(|own| own.holds.0).collect();
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
            }
        }
        // What is not asked for is not sent either.
        let is_filled = self
            .named
            .iter()
            .any(|it| self.held(it, with_holes).is_some());
        if self.wants_provider() || is_filled && self.kind != WriteKind::Slots {
            text.push_str(" | with_entries(select(.value != null))");
        }
        text
    }

    /// The fields that only a person knows, each with what is said of it, and what of the request has no place yet.
    pub(crate) fn open(&self) -> Option<String> {
        let open = self.named.iter().filter(|it| self.held(it, true).is_none());
        let names = open.map(|it| match it.why.as_str() {
            "" => format!("`{}`", it.path),
            why => format!("`{}` ({why})", it.path),
        });
        let names: Vec<String> = names.collect();
        let own = self.own.iter().map(|own| format!(".{}", own.holds.0));
        let own: Vec<String> = own.collect();
        let (names, own) = (names.join(", "), own.join(", "));
        (!names.is_empty()).then(|| format!("{names}; the request has {own}"))
    }

    /// The command that writes the settings with their holes.
    pub(crate) fn command(&self) -> Option<String> {
        let name = shell::word(self.profile.as_deref().unwrap_or("NAME"));
        let settings = self.settings(true).into_iter();
        let settings = settings.map(|(key, value)| shell::word(&format!("{key}={value}")));
        let settings: Vec<String> = settings.collect();
        let set = format!("bookctl profile set {name} {}", settings.join(" "));
        (!settings.is_empty()).then_some(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::client::named_fields::named;
    use serde_json::{Value, json};

    /// What is found at a service that answers in these ways, one after the other.
    fn found(kind: WriteKind, refusals: &[Value]) -> Draft {
        let mut asked = Draft::new(&Adapter::default(), kind);
        for refusal in refusals {
            assert!(asked.take(&named(refusal)), "{refusal}: {asked:?}");
        }
        asked
    }

    fn settings(asked: &Draft) -> Vec<String> {
        asked
            .settings(false)
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect()
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
        assert!(found(WriteKind::Slots, &[]).settings(false).is_empty());
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
        assert_eq!(
            asked.open().unwrap(),
            "`channel` (must be one of web, phone); the request has .venue_id, .datetime, .party_size"
        );
        let holes = |asked: &Draft| asked.settings(true).pop().unwrap().1;
        assert_eq!(
            holes(&asked),
            "del(.venue_id, .datetime, .party_size) * {venueId: .venue_id} * {startTime: .datetime} * \
             {partySize: .party_size} * {channel: <?>}"
        );
        // What was only tried is no answer.
        let fields = json!({"error": "x", "missing": ["window.from", "currency"]});
        let asked = found(WriteKind::Slots, &[fields]);
        assert!(
            asked
                .open()
                .unwrap()
                .starts_with("`window.from`, `currency`")
        );
        assert_eq!(holes(&asked), ". * {window: {from: <?>}} * {currency: <?>}");
    }

    #[test]
    fn a_refused_write_comes_with_the_complete_command() {
        let command = |kind, asked: Value, refused: Value| {
            let adapter = Adapter {
                profile: Some("acme".to_owned()),
                ..Adapter::default()
            };
            let mut draft = Draft::new(&adapter, kind).asked_for(asked.as_object().unwrap());
            draft.take(&named(&refused));
            let command = draft.command().unwrap();
            command
                .strip_prefix("bookctl profile set acme ")
                .unwrap()
                .to_owned()
        };
        let required = |name: &str| json!({"error": format!("{name} is required")});
        let seconds = json!({"error": "x", "field": "datetime", "detail": "expected unix seconds"});
        let both = json!({"error": "x", "errors": [{"field": "party_size", "message": "unknown"}, {"field": "covers", "message": "is required"}]});
        for (kind, asked, refused, expected) in [
            (
                WriteKind::Otp,
                json!({"otp": "1"}),
                required("answer.value"),
                "dialect.otp_field=answer.value",
            ),
            (
                WriteKind::Verify,
                json!({"code": "1"}),
                required("pin"),
                "dialect.session_code_field=pin",
            ),
            (
                WriteKind::Connect,
                json!({}),
                required("mobile"),
                "dialect.session_phone_field=mobile",
            ),
            (
                WriteKind::Cancel,
                json!({}),
                required("why"),
                "dialect.cancel_reason_field=why",
            ),
            (
                WriteKind::Modify,
                json!({"party_size": 3}),
                required("covers"),
                "dialect.modify_party_size_field=covers",
            ),
            (
                WriteKind::Modify,
                json!({"party_size": 3, "datetime": "x"}),
                both,
                "dialect.modify_party_size_field=covers",
            ),
            (
                WriteKind::Modify,
                json!({"party_size": 3}),
                json!({"error": "unknown field party_size"}),
                "dialect.modify_party_size_field=NAME",
            ),
            (
                WriteKind::Otp,
                json!({}),
                json!({"error": "x", "missing": ["a", "b"]}),
                "'write.otp=. * {a: <?>} * {b: <?>}'",
            ),
            (
                WriteKind::Modify,
                json!({"datetime": "x"}),
                seconds,
                "'write.modify=. * {datetime: (.datetime | if type == \"string\" then fromdateiso8601 else . end)} | with_entries(select(.value != null))'",
            ),
        ] {
            assert_eq!(command(kind, asked, refused.clone()), expected, "{refused}");
        }
    }
}
