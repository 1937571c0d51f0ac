//! Terms and prices of a slot or a booking in words. What is not understood stands as it came.

use jiff::Timestamp;
use serde_json::Value;

use super::fields::{Fields, raw};
use super::joined;
use crate::service::documents::certainty::Certainty;
use crate::service::documents::money::{GuestMoney, money_columns};
use crate::service::time::document_time::{DocumentTime, time_text};
use crate::service::time::text::relative;

/// Terms for people, and for a column or a menu in few words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) text: String,
    pub(crate) short: String,
    /// For programs: the amount, its currency, what it is for, and the deadline in RFC 3339.
    pub(crate) columns: [String; 4],
    /// Whether the columns hold all of the terms.
    pub(crate) are_whole: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TermsReader {
    pub(crate) certainty: Certainty,
    /// By the service's clock.
    pub(crate) now: Timestamp,
    pub(crate) party: u32,
}

impl TermsReader {
    pub(crate) fn card(&self, terms: &Value) -> Option<Terms> {
        let mut fields = Fields::from_document(terms);
        let held = self.amount(&mut fields, "hold_amount");
        let held = held.map(|held| (format!("{} held", held.words()), held));
        let needed = fields.read("required", Value::as_bool);
        let mut words = Vec::from_iter(needed.map(|it| if it { "card" } else { "no card" }));
        words.extend(held.as_ref().map(|(words, _)| words.as_str()));
        let words = (!words.is_empty()).then(|| words.join(", "));
        let mut terms = self.worded(fields, held.as_ref(), words.clone(), words)?;
        terms.are_whole &= needed != Some(false);
        Some(terms)
    }

    pub(crate) fn cancellation(&self, terms: &Value) -> Option<Terms> {
        let mut fields = Fields::from_document(terms);
        let fee = self.amount(&mut fields, "fee_amount");
        let fee = fee.map(|fee| (fee.words(), fee));
        let until = fields.time("free_until");
        let words = |until: Option<String>| match (until, &fee) {
            (Some(until), Some((fee, _))) => Some(format!("free until {until}, then {fee}")),
            (Some(until), None) => Some(format!("free until {until}")),
            (None, Some((fee, _))) => Some(format!("cancelling costs {fee}")),
            (None, None) => None,
        };
        let deadline = until.map(|(_, time)| time.rfc3339());
        let full = until.map(|(value, _)| time_text(value));
        let short = until.map(|(value, time)| match time.local {
            Some(local) => local.strftime("%a %H:%M").to_string(),
            None => time_text(value),
        });
        let (all, few) = (words(full.clone()), words(short.clone()));
        let mut terms = self.worded(fields, fee.as_ref(), all, few)?;
        // The service's own text may leave it out.
        for (text, until) in [(&mut terms.text, full), (&mut terms.short, short)] {
            let until = until.map(|until| format!("free until {until}"));
            let left_out = until.filter(|until| !text.contains(until));
            text.extend(left_out.map(|until| format!(" · {until}")));
        }
        terms.columns[3] = deadline.unwrap_or_default();
        Some(terms)
    }

    /// Terms with an amount. The service's own text says the rest in its own way, else `full` does.
    fn worded<'a>(
        &self,
        mut fields: Fields<'a>,
        amount: Option<&(String, GuestMoney)>,
        full: Option<String>,
        mut short: Option<String>,
    ) -> Option<Terms> {
        let text = fields.text("text");
        // An object's own id says nothing to a person, and neither does the currency of no amount.
        fields.scalar("id");
        if text.is_some() || amount.is_some() {
            fields.text("currency");
        }
        // What the text leaves out of the amount: all of it, or what it is for the whole party.
        let left_out = text.zip(amount).and_then(|(text, (words, amount))| {
            match says_amount(text, &amount.each) {
                true => amount.all.clone(),
                false => Some(words.clone()),
            }
        });
        // The service's own sentence says what an amount is for, if nothing else does.
        if amount.is_some() && self.certainty != Certainty::Contract {
            short = text.map(str::to_owned).or(short);
        }
        let rest = fields.rest_text();
        let own = text.map(str::to_owned).or(full);
        let text = joined([own, left_out, rest.clone()])?;
        let are_whole = amount.is_some() && rest.is_none() && self.certainty == Certainty::Contract;
        let short = short.and_then(|short| joined([Some(short), rest]));
        let [number, currency, unit] = amount.map(|it| it.1.columns.clone()).unwrap_or_default();
        let columns = [number, currency, unit, String::new()];
        Some(Terms { short: short.unwrap_or_else(|| text.clone()), text, columns, are_whole })
    }

    /// The cancellation terms of a slot as they are now: a deadline that has passed is no offer.
    pub(crate) fn cancellation_now(&self, terms: &Value) -> Option<Terms> {
        let mut now = self.cancellation(terms)?;
        if deadline(terms).is_some_and(|deadline| deadline < self.now) {
            now.text = self.cost(terms)?;
            now.short = match self.fee(terms) {
                Some(fee) => format!("cancelling costs {fee}"),
                None => "not free to cancel".to_owned(),
            };
        }
        Some(now)
    }

    /// What cancelling costs now, and the terms; only the terms where the deadline is not certain.
    pub(crate) fn cost(&self, terms: &Value) -> Option<String> {
        let words = self.cancellation(terms)?.text;
        let Some(deadline) = deadline(terms) else {
            return Some(words);
        };
        let away = relative(deadline, self.now);
        let cost = match self.fee(terms) {
            _ if self.now <= deadline => format!("free now, the deadline is {away}"),
            Some(fee) => format!("costs {fee} now, the deadline passed {away}"),
            None => format!("no longer free, the deadline passed {away}"),
        };
        Some(format!("{cost} · {words}"))
    }

    /// The fee of a cancellation at a time; `None` without one, or if it is uncertain.
    pub(crate) fn fee_at(&self, terms: &Value, at: Timestamp) -> Option<String> {
        let is_due = match deadline(terms) {
            Some(deadline) => at > deadline,
            None => terms.get("free_until").is_none(),
        };
        self.fee(terms).filter(|_| is_due)
    }

    pub(crate) fn price(&self, price: &Value) -> Option<String> {
        let mut fields = Fields::from_document(price);
        match self.amount(&mut fields, "amount").filter(|_| self.certainty == Certainty::Contract) {
            Some(money) if fields.rest().is_empty() => Some(money.words()),
            _ => raw(price, self.certainty),
        }
    }

    pub(crate) fn price_columns(&self, price: &Value) -> [String; 2] {
        let amount = price.get("amount").filter(|_| Fields::from_document(price).rest().len() == 1);
        let currency = price.get("currency").and_then(Value::as_str);
        match amount.filter(|_| self.certainty == Certainty::Contract) {
            Some(amount) => money_columns(amount, currency, self.certainty),
            None => Default::default(),
        }
    }

    fn fee(&self, terms: &Value) -> Option<String> {
        Some(self.amount(&mut Fields::from_document(terms), "fee_amount")?.words())
    }

    fn amount(&self, fields: &mut Fields<'_>, name: &str) -> Option<GuestMoney> {
        let currency = fields.get("currency").filter(|it| it.is_string());
        let unit = currency.and_then(Value::as_str);
        let money = |it| GuestMoney::from_amount(it, unit, self.certainty, self.party);
        let money = fields.read(name, money)?;
        currency.into_iter().for_each(|it| fields.took(it));
        Some(money)
    }
}

fn deadline(terms: &Value) -> Option<Timestamp> {
    DocumentTime::from_field(terms, "free_until")?.instant
}

/// Whether a text has the digits of an amount, however it writes them.
fn says_amount(text: &str, amount: &str) -> bool {
    let digits = |text: &str| text.replace(|it: char| !it.is_ascii_digit(), "");
    let amount = digits(amount);
    let whole = amount.strip_suffix("00").unwrap_or(&amount);
    text.split(char::is_whitespace).map(digits).any(|number| number == amount || number == whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reader(now: &str, certainty: Certainty) -> TermsReader {
        let now = now.parse().unwrap();
        let party = 4;
        TermsReader { certainty, now, party }
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
        assert_eq!(cost(&terms), format!("free now, the deadline is in 5 hours · {words}"));
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
        let short = |now: &str| {
            let reader = reader(now, Certainty::Contract);
            reader.cancellation_now(&terms).unwrap().short
        };
        assert!(short("2026-12-01T09:30:00Z").starts_with("free until Tue 09:30"));
        let over = "cancelling costs 9.00 EUR per guest (36.00 EUR for 4)";
        assert_eq!(short("2026-12-01T09:30:01Z"), over);
    }

    #[test]
    fn cancellation_terms_are_worded_from_their_parts() {
        let terms =
            json!({"free_until": "2026-12-01T17:30:00", "fee_amount": 900, "currency": "EUR"});
        let reader = reader("2026-12-01T12:00:00Z", Certainty::Contract);
        let words = reader.cancellation(&terms).unwrap();
        assert_eq!(words.short, "free until Tue 17:30, then 9.00 EUR per guest (36.00 EUR for 4)");
        assert_eq!(
            words.text,
            "free until Tue 1 Dec 2026, 17:30, then 9.00 EUR per guest (36.00 EUR for 4)"
        );
        let mut reported = terms.clone();
        reported["text"] = "Later it is 9 EUR.".into();
        let words = reader.cancellation(&reported).unwrap();
        assert!(words.text.starts_with("Later it is 9 EUR. · "), "{}", words.text);
        assert!(words.text.ends_with("free until Tue 1 Dec 2026, 17:30"));
        let other = json!({"cutoff": 24, "unit": "hours"});
        let words = reader.cancellation(&other).unwrap();
        assert_eq!(words.text, "cutoff 24 · unit hours");
    }
}
