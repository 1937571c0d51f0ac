//! The availability search, from what its refusals name.

use serde_json::Value;

use super::paths::is_word;
use super::refused::Named;
use super::time_form::Time;
use super::words::{DAY_WORDS, END_WORDS, PARTY_WORDS, PROVIDER_WORDS, TIME_WORDS, VENUE_WORDS};
use super::written::{put, written};
use super::{Certainty, Finding};

/// The availability search as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotsRequest {
    venue: Option<Vec<String>>,
    day: Option<Vec<String>>,
    time: Option<Vec<String>>,
    end: Option<Vec<String>>,
    party: Option<Vec<String>>,
    provider: Option<Vec<String>>,
    /// The form of the time where it is not the contract's.
    pub(crate) form: Option<Time>,
    /// Required fields that the contract does not have.
    asked: Vec<Named>,
}

impl SlotsRequest {
    /// A request that the service took, with these fields and its time in this form.
    pub(super) fn recorded(
        venue: Option<Vec<String>>,
        time: Option<Vec<String>>,
        party: Option<Vec<String>>,
        form: Time,
    ) -> Self {
        SlotsRequest {
            venue,
            time,
            party,
            form: Some(form),
            ..SlotsRequest::default()
        }
    }

    /// Takes in what a refusal names. Returns whether that is more than was known.
    pub(crate) fn learn(&mut self, named: &[Named]) -> bool {
        let before = self.clone();
        for it in named.iter().filter(|it| !it.is_unknown()) {
            let path = &it.path;
            let is = |words: &str| {
                let last = path.last().map(std::slice::from_ref).unwrap_or_default();
                is_word(path, words).is_some() || is_word(last, words).is_some()
            };
            let own = |place: &mut Option<Vec<String>>| {
                place.get_or_insert_with(|| path.clone());
            };
            if is(VENUE_WORDS) {
                own(&mut self.venue);
            } else if is(END_WORDS) {
                own(&mut self.end);
            } else if is(DAY_WORDS) {
                own(&mut self.day);
            } else if is(TIME_WORDS) {
                own(&mut self.time);
            } else if is(PARTY_WORDS) {
                own(&mut self.party);
            } else if is(PROVIDER_WORDS) {
                own(&mut self.provider);
            } else if it.is_required() && !self.asked.contains(it) {
                self.asked.push(it.clone());
            }
        }
        *self != before
    }

    /// Whether the request needs a field that only a person can fill.
    pub(crate) fn is_stuck(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Whether a refusal asked for the provider.
    pub(crate) fn wants_provider(&self) -> bool {
        self.provider.is_some()
    }

    /// Whether the time may be in another form: its field is known or is the contract's.
    pub(crate) fn has_one_time(&self) -> bool {
        self.end.is_none() && (self.day.is_none() || self.time.is_none())
    }

    fn is_renaming(&self) -> bool {
        self.end.is_none()
            && self.day.is_none()
            && self.form.is_none()
            && self.provider.is_none()
            && self.asked.is_empty()
    }

    /// What was learned; `certainty` is [`Certainty::Certain`] once a request was answered.
    pub(crate) fn findings(&self, certainty: Certainty) -> Vec<Finding> {
        let mut findings = Vec::new();
        if *self == SlotsRequest::default() {
            return findings;
        }
        if self.is_renaming() {
            for (key, path, own) in [
                ("slots_venue_field", &self.venue, "venue_id"),
                ("slots_datetime_field", &self.time, "datetime"),
                ("slots_party_size_field", &self.party, "party_size"),
            ] {
                if let Some(path) = path
                    && path.join(".") != own
                {
                    let name = path.join(".");
                    let why = format!("the availability search asks for `{name}`");
                    findings.push(Finding::new(certainty, format!("dialect.{key}"), name, why));
                }
            }
            return findings;
        }
        let mut why = "the availability search has other fields".to_owned();
        if let Some(form) = self.form {
            why = format!("{why}, and wants {}", form.says());
        }
        let certainty = if self.is_stuck() {
            Certainty::ToBeAsked
        } else {
            certainty
        };
        for asked in &self.asked {
            let name = asked.dotted();
            findings.push(Finding::new(
                Certainty::ToBeAsked,
                "",
                "",
                format!(
                    "the availability search requires `{name}` ({}); say its value in write.slots",
                    asked.why
                ),
            ));
        }
        findings.push(Finding::new(
            certainty,
            "write.slots",
            self.expression(),
            why,
        ));
        findings
    }

    /// The expression that writes the request.
    fn expression(&self) -> String {
        let form = self.form.unwrap_or(match (&self.day, &self.time) {
            (Some(_), None) => Time::Day,
            _ => Time::Offset,
        });
        let name = |path: &Option<Vec<String>>, own: &str| {
            path.clone().unwrap_or_else(|| vec![own.to_owned()])
        };
        let mut tree = Value::Object(serde_json::Map::new());
        put(&mut tree, &name(&self.venue, "venue_id"), ".venue_id");
        match (&self.day, &self.time, &self.end) {
            (_, Some(from), Some(to)) => {
                put(
                    &mut tree,
                    from,
                    "(.datetime[:11] + \"00:00:00\" + .datetime[19:])",
                );
                put(
                    &mut tree,
                    to,
                    "(.datetime[:11] + \"23:59:59\" + .datetime[19:])",
                );
            }
            (Some(day), Some(time), None) => {
                put(&mut tree, day, ".datetime[:10]");
                put(&mut tree, time, ".datetime[11:16]");
            }
            (Some(day), None, _) => put(&mut tree, day, form.expression()),
            (None, time, _) => put(&mut tree, &name(time, "datetime"), form.expression()),
        }
        put(&mut tree, &name(&self.party, "party_size"), ".party_size");
        for asked in &self.asked {
            put(&mut tree, &asked.path, "\"…\"");
        }
        let provider = name(&self.provider, "provider");
        let mut one = Value::Object(serde_json::Map::new());
        put(&mut one, &provider, ".provider");
        format!(
            "{} * (if .provider then {} else {{}} end)",
            written(&tree),
            written(&one)
        )
    }
}

#[cfg(test)]
mod tests;
