//! The card and cancellation terms and the price of a slot or a booking, in words. What is not understood stands as it
//! came.

use jiff::Timestamp;
use serde_json::Value;

use super::fields::{Fields, raw};
use crate::model::certainty::Certainty;
use crate::model::document_time::DocumentTime;
use crate::model::money::GuestMoney;
use crate::model::time_text::relative;

/// Terms for people, and for a column or a menu in few words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) text: String,
    pub(crate) short: String,
}

/// Reads terms and prices for one party.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TermsReader {
    pub(crate) certainty: Certainty,
    /// By the service's clock.
    pub(crate) now: Timestamp,
    pub(crate) party: u32,
}

impl TermsReader {
    /// What the guest's card is needed for.
    pub(crate) fn card(&self, terms: &Value) -> Option<Terms> {
        if !terms.is_object() {
            return as_they_came(terms, self.certainty);
        }
        let mut fields = fields_of(terms);
        let text = fields.text("text");
        let held = self.amount(&mut fields, "hold_amount");
        let needed = fields.get("required").and_then(Value::as_bool);
        if let Some(required) = fields.get("required").filter(|it| it.is_boolean()) {
            fields.took(required);
        }
        let held_words = held.as_ref().map(|held| format!("{} held", held.words()));
        let short = match (needed, held_words.clone()) {
            (Some(false), None) => Some("no card".to_owned()),
            (Some(true), Some(held)) => Some(format!("card, {held}")),
            (Some(true), None) => Some("card".to_owned()),
            (Some(false), Some(held)) => Some(format!("no card, {held}")),
            (None, held) => held,
        };
        let left_out = text.zip(held.as_ref());
        let left_out = left_out.and_then(|(text, held)| left_out_of(text, held, held_words));
        drop_currency(&mut fields, held.is_some() || text.is_some());
        let short = self.in_short(text, held.is_some(), short);
        match text {
            Some(text) => terms_of(vec![Some(text.to_owned()), left_out], short, &fields),
            None => terms_of(vec![short], None, &fields),
        }
    }

    pub(crate) fn cancellation(&self, terms: &Value) -> Option<Terms> {
        if !terms.is_object() {
            return as_they_came(terms, self.certainty);
        }
        let mut fields = fields_of(terms);
        let text = fields.text("text");
        let fee = self.amount(&mut fields, "fee_amount");
        let until = fields.time("free_until");
        let clock = until.map(|(value, time)| match time.local {
            Some(local) => local.strftime("%a %H:%M").to_string(),
            None => crate::model::document_time::time_text(value),
        });
        let full_clock = until.map(|(value, _)| crate::model::document_time::time_text(value));
        let fee_words = fee.as_ref().map(GuestMoney::words);
        let phrase = |until: Option<String>| match (until, &fee_words) {
            (Some(until), Some(fee)) => Some(format!("free until {until}, then {fee}")),
            (Some(until), None) => Some(format!("free until {until}")),
            (None, Some(fee)) => Some(format!("cancelling costs {fee}")),
            (None, None) => None,
        };
        let left_out = text.zip(fee.as_ref());
        let left_out = left_out.and_then(|(text, fee)| left_out_of(text, fee, fee_words.clone()));
        drop_currency(&mut fields, fee.is_some() || text.is_some());
        let short = self.in_short(text, fee.is_some(), phrase(clock));
        // The venue's own text says until when, in its own way.
        let words = match text {
            Some(text) => vec![Some(text.to_owned()), left_out],
            None => vec![phrase(full_clock)],
        };
        terms_of(words, short, &fields)
    }

    /// The cancellation terms of a slot as they are now: a deadline that has passed is no offer.
    pub(crate) fn cancellation_now(&self, terms: &Value) -> Option<Terms> {
        if deadline(terms).is_none_or(|deadline| deadline >= self.now) {
            return self.cancellation(terms);
        }
        Some(Terms {
            text: self.cost(terms)?,
            short: match self.fee(terms) {
                Some(fee) => format!("cancelling costs {fee}"),
                None => "not free to cancel".to_owned(),
            },
        })
    }

    /// What cancelling costs now, followed by the terms themselves. Where the deadline is not certain, only the terms.
    pub(crate) fn cost(&self, terms: &Value) -> Option<String> {
        let words = self.cancellation(terms)?.text;
        let Some(deadline) = deadline(terms) else {
            return Some(words);
        };
        let away = relative(deadline, self.now);
        let cost = match (self.now <= deadline, self.fee(terms)) {
            (true, _) => format!("free now, the deadline is {away}"),
            (false, Some(fee)) => format!("costs {fee} now, the deadline passed {away}"),
            (false, None) => format!("no longer free, the deadline passed {away}"),
        };
        Some(format!("{cost} · {words}"))
    }

    /// What a cancellation at a time cost by the terms, followed by the terms themselves.
    pub(crate) fn cost_then(&self, terms: &Value, at: Timestamp) -> Option<String> {
        let words = self.cancellation(terms)?.text;
        let is_free = deadline(terms).is_some_and(|deadline| at <= deadline);
        let cost = match self.fee_at(terms, at) {
            Some(fee) => format!("cost {fee}"),
            None if is_free => "cost nothing".to_owned(),
            None => return Some(words),
        };
        Some(format!("{cost}, by its terms · {words}"))
    }

    /// The fee of a cancellation at a time. `None` if there is none, or if it is not certain that it is due.
    pub(crate) fn fee_at(&self, terms: &Value, at: Timestamp) -> Option<String> {
        let is_due = match deadline(terms) {
            Some(deadline) => at > deadline,
            None => terms.get("free_until").is_none(),
        };
        self.fee(terms).filter(|_| is_due)
    }

    pub(crate) fn price(&self, price: &Value) -> Option<String> {
        let mut fields = Fields::of(price);
        let known = self.amount(&mut fields, "amount");
        match known.filter(|_| self.certainty == Certainty::Contract) {
            Some(money) if fields.rest().is_empty() => Some(money.words()),
            _ => raw(price, self.certainty),
        }
    }

    fn fee(&self, terms: &Value) -> Option<String> {
        let fee = self.amount(&mut Fields::of(terms), "fee_amount")?;
        Some(fee.words())
    }

    fn amount(&self, fields: &mut Fields<'_>, name: &str) -> Option<GuestMoney> {
        let (certainty, party) = (self.certainty, self.party);
        fields.money(name, "currency", |amount, currency| {
            GuestMoney::of(amount, currency, certainty, party)
        })
    }

    /// Terms in few words. The service's own sentence says what an amount is for, if nothing else does.
    fn in_short(
        &self,
        text: Option<&str>,
        has_amount: bool,
        short: Option<String>,
    ) -> Option<String> {
        let is_certain = !has_amount || self.certainty == Certainty::Contract;
        text.filter(|_| !is_certain).map(str::to_owned).or(short)
    }
}

/// The fields of terms. If they are an object of their own at the service, its id says nothing to a person.
fn fields_of(terms: &Value) -> Fields<'_> {
    let mut fields = Fields::of(terms);
    fields.scalar("id");
    fields
}

fn deadline(terms: &Value) -> Option<Timestamp> {
    DocumentTime::read(terms.get("free_until")?)?.instant
}

/// What a text of the service leaves out of an amount: all of it, or what it is for the whole party.
fn left_out_of(text: &str, money: &GuestMoney, words: Option<String>) -> Option<String> {
    if says_amount(text, &money.each) {
        money.all.clone()
    } else {
        words
    }
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

    fn reader(now: &str, certainty: Certainty) -> TermsReader {
        let now = now.parse().unwrap();
        let party = 4;
        TermsReader {
            certainty,
            now,
            party,
        }
    }

    fn card(terms: Value) -> Option<(String, String)> {
        let reader = reader("2026-12-01T12:00:00Z", Certainty::Specification);
        reader.card(&terms).map(|it| (it.text, it.short))
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
                Some(("Hold of EUR 25.".to_owned(), "Hold of EUR 25.".to_owned())),
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
        let reader = reader("2026-12-01T12:00:00Z", Certainty::Contract);
        let cost = |terms: &Value| reader.cost(terms).unwrap();
        let mut terms = json!({"free_until": "2026-12-01T17:30:00+00:00", "fee_amount": 900, "currency": "EUR"});
        let words =
            "free until Tue 1 Dec 2026, 17:30 (+00:00), then 9.00 EUR per guest (36.00 EUR for 4)";
        assert_eq!(
            cost(&terms),
            format!("free now, the deadline is in 5 hours · {words}")
        );
        terms["free_until"] = json!("2026-12-01T09:30:00+00:00");
        assert!(cost(&terms).starts_with(
            "costs 9.00 EUR per guest (36.00 EUR for 4) now, the deadline passed 2 hours ago · "
        ));
        terms["free_until"] = json!("2026-12-01T09:30:00");
        assert!(cost(&terms).starts_with("free until "), "no zone, no claim");
    }

    #[test]
    fn a_deadline_that_has_passed_is_not_offered() {
        let terms = json!({"free_until": "2026-12-01T09:30:00+00:00", "fee_amount": 900, "currency": "EUR"});
        let at = |now: &str| {
            let reader = reader(now, Certainty::Contract);
            reader.cancellation_now(&terms).unwrap()
        };
        assert!(
            at("2026-12-01T09:30:00Z")
                .short
                .starts_with("free until Tue 09:30")
        );
        let over = at("2026-12-01T09:30:01Z");
        assert_eq!(
            over.short,
            "cancelling costs 9.00 EUR per guest (36.00 EUR for 4)"
        );
        assert!(
            over.text
                .starts_with("costs 9.00 EUR per guest (36.00 EUR for 4) now, the deadline passed")
        );
    }

    #[test]
    fn cancellation_terms_are_worded_from_their_parts() {
        let terms =
            json!({"free_until": "2026-12-01T17:30:00", "fee_amount": 900, "currency": "EUR"});
        let reader = reader("2026-12-01T12:00:00Z", Certainty::Contract);
        let words = reader.cancellation(&terms).unwrap();
        assert_eq!(
            words.short,
            "free until Tue 17:30, then 9.00 EUR per guest (36.00 EUR for 4)"
        );
        assert_eq!(
            words.text,
            "free until Tue 1 Dec 2026, 17:30, then 9.00 EUR per guest (36.00 EUR for 4)"
        );
        let other = json!({"cutoff": 24, "unit": "hours"});
        let words = reader.cancellation(&other).unwrap();
        assert_eq!(words.text, "cutoff 24 · unit hours");
    }
}
