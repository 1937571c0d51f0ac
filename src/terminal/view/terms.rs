//! The card and cancellation terms and the price of a slot or a booking, in words. What is not understood stands as it
//! came.

use jiff::Timestamp;
use serde_json::Value;

use super::fields::{Fields, raw};
use crate::model::certainty::Certainty;
use crate::model::document_time::DocumentTime;
use crate::model::time_text::relative;

/// Terms for people, and for a column or a menu in few words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) text: String,
    pub(crate) short: String,
}

/// What the guest's card is needed for.
pub(crate) fn card_terms(terms: &Value, certainty: Certainty) -> Option<Terms> {
    if !terms.is_object() {
        return as_they_came(terms, certainty);
    }
    let mut fields = Fields::of(terms);
    let text = fields.text("text");
    let held = fields.money("hold_amount", "currency", certainty);
    let needed = fields.get("required").and_then(Value::as_bool);
    if let Some(required) = fields.get("required").filter(|it| it.is_boolean()) {
        fields.took(required);
    }
    let held_words = held.as_deref().map(|held| format!("{held} held"));
    let short = match (needed, &held_words) {
        (Some(false), None) => Some("no card".to_owned()),
        (Some(true), Some(held)) => Some(format!("card, {held}")),
        (Some(true), None) => Some("card".to_owned()),
        (Some(false), Some(held)) => Some(format!("no card, {held}")),
        (None, held) => held.clone(),
    };
    let words = match text {
        Some(text) => vec![
            Some(text.to_owned()),
            held_words.filter(|held| !says_amount(text, held)),
        ],
        None => vec![short.clone()],
    };
    drop_currency(&mut fields, held.is_some() || text.is_some());
    terms_of(words, text.and(short), &fields)
}

pub(crate) fn cancellation_terms(terms: &Value, certainty: Certainty) -> Option<Terms> {
    if !terms.is_object() {
        return as_they_came(terms, certainty);
    }
    let mut fields = Fields::of(terms);
    let text = fields.text("text");
    let fee = fields.money("fee_amount", "currency", certainty);
    let until = fields.time("free_until");
    let clock = until.map(|(value, time)| match time.local {
        Some(local) => local.strftime("%a %H:%M").to_string(),
        None => crate::model::document_time::time_text(value),
    });
    let full_clock = until.map(|(value, _)| crate::model::document_time::time_text(value));
    let phrase = |until: Option<String>| match (until, &fee) {
        (Some(until), Some(fee)) => Some(format!("free until {until}, then {fee}")),
        (Some(until), None) => Some(format!("free until {until}")),
        (None, Some(fee)) => Some(format!("cancelling costs {fee}")),
        (None, None) => None,
    };
    let words = match text {
        // The venue's own text says until when, in its own way.
        Some(text) => vec![
            Some(text.to_owned()),
            fee.clone().filter(|fee| !says_amount(text, fee)),
        ],
        None => vec![phrase(full_clock)],
    };
    drop_currency(&mut fields, fee.is_some() || text.is_some());
    terms_of(words, phrase(clock), &fields)
}

/// The cancellation terms of a slot as they are at `now`: a deadline that has passed is no offer.
pub(crate) fn cancellation_terms_at(
    terms: &Value,
    now: Timestamp,
    certainty: Certainty,
) -> Option<Terms> {
    let words = cancellation_terms(terms, certainty)?;
    let deadline = terms.get("free_until").and_then(DocumentTime::read);
    let is_over = deadline
        .and_then(|it| it.instant)
        .is_some_and(|it| it < now);
    if !is_over {
        return Some(words);
    }
    let fee = Fields::of(terms).money("fee_amount", "currency", certainty);
    Some(Terms {
        text: cost_of_cancelling(terms, now, certainty)?,
        short: match fee {
            Some(fee) => format!("cancelling costs {fee}"),
            None => "not free to cancel".to_owned(),
        },
    })
}

/// What cancelling at `now` costs, followed by the terms themselves. Where the deadline is not certain, only the terms.
pub(crate) fn cost_of_cancelling(
    terms: &Value,
    now: Timestamp,
    certainty: Certainty,
) -> Option<String> {
    let words = cancellation_terms(terms, certainty)?.text;
    let deadline = terms.get("free_until").and_then(DocumentTime::read);
    let Some(deadline) = deadline.and_then(|deadline| deadline.instant) else {
        return Some(words);
    };
    let away = relative(deadline, now);
    let fee = Fields::of(terms).money("fee_amount", "currency", certainty);
    let cost = match (now <= deadline, fee) {
        (true, _) => format!("free now, the deadline is {away}"),
        (false, Some(fee)) => format!("costs {fee} now, the deadline passed {away}"),
        (false, None) => format!("no longer free, the deadline passed {away}"),
    };
    Some(format!("{cost} · {words}"))
}

pub(crate) fn price(price: &Value, certainty: Certainty) -> Option<String> {
    raw(price, certainty)
}

/// The currency of an amount that is not there says nothing.
fn drop_currency(fields: &mut Fields<'_>, is_said: bool) {
    if is_said {
        fields.text("currency");
    }
}

/// Whether a text has the digits of an amount, however it writes them.
fn says_amount(text: &str, amount: &str) -> bool {
    let digits = |text: &str| {
        text.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    let amount = digits(amount);
    let numbers = text.split(char::is_whitespace).map(digits);
    let whole = amount.strip_suffix("00").unwrap_or(&amount);
    numbers
        .into_iter()
        .any(|number| number == amount || number == whole)
}

fn terms_of(
    words: Vec<Option<String>>,
    short: Option<String>,
    fields: &Fields<'_>,
) -> Option<Terms> {
    let rest = Some(fields.rest_text()).filter(|rest| !rest.is_empty());
    let words: Vec<String> = words.into_iter().chain([rest.clone()]).flatten().collect();
    let text = words.join(" · ");
    let short = match (short, rest) {
        (Some(short), None) => short,
        (Some(short), Some(rest)) => format!("{short} · {rest}"),
        (None, _) => text.clone(),
    };
    (!text.is_empty()).then_some(Terms { text, short })
}

fn as_they_came(terms: &Value, certainty: Certainty) -> Option<Terms> {
    let text = raw(terms, certainty)?;
    Some(Terms {
        short: text.clone(),
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn card(terms: Value) -> Option<(String, String)> {
        card_terms(&terms, Certainty::Specification).map(|it| (it.text, it.short))
    }

    #[test]
    fn card_terms_of_any_shape_are_shown() {
        let same = |text: &str| Some((text.to_owned(), text.to_owned()));
        for (terms, expected) in [
            (json!("A card is needed"), same("A card is needed")),
            (json!(null), None),
            (json!({}), None),
            (json!({"required": false}), same("no card")),
            (
                json!({"required": true, "hold_amount": 2500, "currency": "EUR"}),
                same("card, 2500 (EUR) held"),
            ),
            (
                json!({"required": true, "hold_amount": "25.00", "currency": "EUR", "text": "Hold of EUR 25."}),
                Some((
                    "Hold of EUR 25.".to_owned(),
                    "card, 25.00 EUR held".to_owned(),
                )),
            ),
            (
                json!({"guarantee": {"hold": {"amount": 2500, "currency": "EUR"}, "per_person": true}}),
                same("guarantee.hold 2500 (EUR) · guarantee.per_person true"),
            ),
            (
                json!([{"rule": "hold", "value": 25}, {"rule": "notice"}]),
                same("[0].rule hold · [0].value 25 · [1].rule notice"),
            ),
        ] {
            assert_eq!(card(terms.clone()), expected, "{terms}");
        }
    }

    #[test]
    fn an_amount_that_the_text_does_not_say_is_added() {
        let terms = json!({"text": "A hold is made.", "hold_amount": 40.5, "currency": "USD"});
        assert_eq!(card(terms).unwrap().0, "A hold is made. · 40.50 USD held");
    }

    #[test]
    fn what_cancelling_costs_now_depends_on_the_deadline() {
        let now = "2026-12-01T12:00:00Z".parse().unwrap();
        let cost = |terms: &Value| cost_of_cancelling(terms, now, Certainty::Contract).unwrap();
        let mut terms = json!({"free_until": "2026-12-01T17:30:00+00:00", "fee_amount": 900, "currency": "EUR"});
        let words = "free until Tue 1 Dec 2026, 17:30 (+00:00), then 9.00 EUR";
        assert_eq!(
            cost(&terms),
            format!("free now, the deadline is in 5 hours · {words}")
        );
        terms["free_until"] = json!("2026-12-01T09:30:00+00:00");
        assert!(cost(&terms).starts_with("costs 9.00 EUR now, the deadline passed 2 hours ago · "));
        terms["free_until"] = json!("2026-12-01T09:30:00");
        assert!(cost(&terms).starts_with("free until "), "no zone, no claim");
    }

    #[test]
    fn a_deadline_that_has_passed_is_not_offered() {
        let terms = json!({"free_until": "2026-12-01T09:30:00+00:00", "fee_amount": 900, "currency": "EUR"});
        let at = |now: &str| {
            cancellation_terms_at(&terms, now.parse().unwrap(), Certainty::Contract).unwrap()
        };
        assert!(
            at("2026-12-01T09:30:00Z")
                .short
                .starts_with("free until Tue 09:30")
        );
        let over = at("2026-12-01T09:30:01Z");
        assert_eq!(over.short, "cancelling costs 9.00 EUR");
        assert!(
            over.text
                .starts_with("costs 9.00 EUR now, the deadline passed")
        );
    }

    #[test]
    fn cancellation_terms_are_worded_from_their_parts() {
        let terms =
            json!({"free_until": "2026-12-01T17:30:00", "fee_amount": 900, "currency": "EUR"});
        let words = cancellation_terms(&terms, Certainty::Contract).unwrap();
        assert_eq!(words.short, "free until Tue 17:30, then 9.00 EUR");
        assert_eq!(
            words.text,
            "free until Tue 1 Dec 2026, 17:30, then 9.00 EUR"
        );
        let other = json!({"cutoff": 24, "unit": "hours"});
        let words = cancellation_terms(&other, Certainty::Contract).unwrap();
        assert_eq!(words.text, "cutoff 24 · unit hours");
    }
}
