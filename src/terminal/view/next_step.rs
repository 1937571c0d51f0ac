//! What a booking waits for, and the commands that can follow it, depending on its status and its
//! provider.

use jiff::Timestamp;
use serde_json::Value;

use super::fields::{Fields, is_scalar, raw};
use super::{BookingView, joined};
use crate::json::plain;
use crate::outcome::code::Retry;
use crate::platform::shell;
use crate::service::documents::booking::{Booking, Status};
use crate::service::documents::certainty::Certainty;
use crate::service::documents::money::{is_unit_known, money};
use crate::service::documents::venue::Venue;
use crate::service::mapping::{Dialect, Pause, scalars};
use crate::terminal::output::Page;

#[derive(Clone, Debug)]
pub(crate) struct RequestedField<'a> {
    pub(crate) name: String,
    pub(crate) label: Option<String>,
    /// Whether the service says that it is no text: a number or true or false.
    pub(crate) is_typed: bool,
    /// Whether the service says that it may be left empty.
    pub(crate) is_optional: bool,
    /// The values that its name and its label show.
    displayed: Vec<&'a Value>,
}

/// The fields in `next_action.fields`: names or objects, in a list or under their names.
pub(crate) fn requested_fields(action: Option<&Value>) -> Vec<RequestedField<'_>> {
    let named: Vec<(String, Option<&Value>, &Value)> = match action.and_then(|it| it.get("fields"))
    {
        Some(Value::Array(fields)) => {
            let named = fields.iter().filter_map(|field| {
                let name = if field.is_object() { field.get("name")? } else { field };
                let is_named = is_scalar(name) && !plain(name).is_empty();
                is_named.then(|| (plain(name), Some(name), field))
            });
            named.collect()
        }
        Some(Value::Object(fields)) => {
            fields.iter().map(|(name, field)| (name.clone(), None, field)).collect()
        }
        _ => Vec::new(),
    };
    let requested = named.into_iter().map(|(name, value, field)| {
        let label = field.get("label").or_else(|| field.get("title"));
        let label = label.filter(|label| label.as_str().is_some_and(|it| !it.is_empty()));
        let is = |member: &str, wording: bool| field.get(member) == Some(&wording.into());
        let kind = field.get("type").and_then(Value::as_str);
        RequestedField {
            name,
            label: label.map(plain),
            is_typed: matches!(kind, Some("boolean" | "bool" | "number" | "integer")),
            is_optional: is("required", false) || is("optional", true),
            displayed: value.into_iter().chain(label).collect(),
        }
    });
    requested.collect()
}

impl BookingView {
    /// Adds what is needed, where it was sent, the service's own words, and when it expires.
    pub(super) fn pause<'a>(&'a self, page: &mut Page, fields: &mut Fields<'a>) {
        match self.booking.next_action() {
            Some(action @ Value::String(text)) => {
                page.field("waiting for", text);
                fields.took(action);
            }
            Some(action) => {
                let mut text = |name: &str| action.get(name).and_then(|it| fields.text_of(it));
                let kind = text(&self.dialect.next_action_type_field).map(str::to_owned);
                let what = match self.dialect.pause(Some(action)) {
                    Pause::Otp => Some("one-time code".to_owned()),
                    Pause::Payment => Some("payment approval".to_owned()),
                    Pause::Other => kind.map(|it| it.replace('_', " ")),
                };
                let sent = text("sent_to").map(|to| match text("channel") {
                    Some(channel) => format!("sent to {to} by {channel}"),
                    None => format!("sent to {to}"),
                });
                let waiting_for = match (what, sent) {
                    (Some(what), Some(sent)) => Some(format!("{what} ({sent})")),
                    (what, sent) => what.or(sent),
                };
                page.field_if("waiting for", waiting_for);
                page.field_if("message", text("message"));
                page.field_if("amount", amount(fields, action, self.certainty));
                if let Some(request) = action.get("psp_request") {
                    page.field_if("payment data", parts(request));
                    fields.took(request);
                }
                let requested = requested_fields(Some(action));
                let names = requested.iter().map(|field| match &field.label {
                    Some(label) => format!("{} ({label})", field.name),
                    None => field.name.clone(),
                });
                let names = names.collect::<Vec<_>>().join(", ");
                page.field_if("fields", Some(names).filter(|names| !names.is_empty()));
                for value in requested.into_iter().flat_map(|field| field.displayed) {
                    fields.took(value);
                }
            }
            None => {}
        }
        let booking = &self.booking;
        if let Some(deadline) = booking.waits_until() {
            let label = if deadline > self.now { "expires" } else { "expired" };
            page.field(label, self.moment(deadline));
            // The booking repeats the deadline of its action.
            let own = booking.value().get("expires_at");
            let repeats = own.filter(|own| Some(*own) == booking.deadline_value());
            for value in booking.deadline_value().into_iter().chain(repeats) {
                fields.took(value);
            }
        }
    }

    /// Why the booking can neither be changed nor cancelled, if the service or its provider says so.
    pub(crate) fn restrictions(&self) -> Option<String> {
        let (booking, venue) = (&self.booking, self.venue.as_ref());
        let provider = booking.str("provider")?;
        let was_said =
            matches!(booking.error_code(), Some("cancellation_unsupported" | "modify_unsupported"));
        let known = restriction(provider, venue, &self.dialect, self.certainty);
        let limits = known.or_else(|| was_said.then(|| call_the_venue(provider, venue)));
        limits.filter(|_| booking.status() == Status::Confirmed)
    }

    /// The commands that can follow.
    pub(crate) fn commands(&self) -> Vec<String> {
        let (booking, now) = (&self.booking, self.now);
        let command = |name, flags| shell::command(name, booking.id(), flags);
        match booking.status() {
            Status::RequiresAction if self.is_answered => vec![command("show", "")],
            _ if booking.is_overdue(now) => vec![command("show", "")],
            Status::RequiresAction => self.answers(),
            Status::Confirmed if booking.is_over(now) => vec![command("book --like", "--at WHEN")],
            Status::Confirmed if self.restrictions().is_some() => vec![],
            Status::Confirmed => vec![
                command("modify", "--at WHEN"),
                command("modify", "--party N"),
                command("cancel", ""),
            ],
            Status::Failed | Status::Expired | Status::Cancelled => book_again(booking, now),
            Status::Processing => vec![command("watch", "")],
            Status::Other(_) => vec![command("show", ""), command("watch", "")],
        }
    }

    fn answers(&self) -> Vec<String> {
        let (booking, action) = (&self.booking, self.booking.next_action());
        let command = |flags: &str| shell::command("continue", booking.id(), flags);
        let flags: &[&str] = match self.dialect.pause(action) {
            Pause::Otp => &["--otp CODE"],
            Pause::Payment => &["--psp-response @answer.json", "--psp-abort"],
            Pause::Other => {
                let requested = requested_fields(action).into_iter();
                let flags = requested.map(|field| format!("-F {}=VALUE", shell::word(&field.name)));
                let flags = flags.collect::<Vec<_>>().join(" ");
                if !flags.is_empty() {
                    return vec![command(&flags)];
                }
                // Only a payment has a deadline of its own (spec, Booking).
                match booking.deadline_value() {
                    Some(_) => &["--psp-response @answer.json", "--psp-abort", "-F key=VALUE"],
                    None => &["--otp CODE", "--psp-response @answer.json", "-F key=VALUE"],
                }
            }
        };
        flags.iter().map(|flags| command(flags)).collect()
    }
}

fn amount<'a>(fields: &mut Fields<'a>, action: &'a Value, certainty: Certainty) -> Option<String> {
    let amount = action.get("amount")?;
    let currency = action.get("currency").filter(|it| it.is_string());
    if !is_scalar(amount) {
        fields.took(amount);
        return raw(amount, certainty);
    }
    let named = currency.and_then(Value::as_str);
    let mut text = money(amount, named, certainty)?;
    if !is_unit_known(amount, named.unwrap_or_default(), certainty) {
        text += ", in a unit that the service does not state";
    }
    for displayed in [amount].into_iter().chain(currency) {
        fields.took(displayed);
    }
    Some(text)
}

/// What the vendor needs on one line, to be copied: `approval_id psp_1 · amount 4600`.
fn parts(request: &Value) -> Option<String> {
    let listed = scalars(request).into_iter();
    joined(listed.map(|(path, text)| Some(format!("{path} {text}").trim_start().to_owned())))
}

/// What bookctl cannot do with a booking of this provider: only one supports changes and cancels
/// (spec, What the service does). With the venue's phone number, if a search has shown it.
///
/// Which provider that is must be known, from the contract or from the profile. A default is no
/// reason to claim it.
pub(crate) fn restriction(
    provider: &str,
    venue: Option<&Venue>,
    dialect: &Dialect,
    certainty: Certainty,
) -> Option<String> {
    let is_known =
        certainty == Certainty::Contract || dialect.provider_a != Dialect::default().provider_a;
    (is_known && provider != dialect.provider_a).then(|| call_the_venue(provider, venue))
}

fn call_the_venue(provider: &str, venue: Option<&Venue>) -> String {
    let number = venue.map(|venue| match venue.phone() {
        Some(phone) => format!(" ({phone})"),
        None => " (the service gives no phone number)".to_owned(),
    });
    let number = number.unwrap_or_default();
    format!("{provider} can neither change nor cancel a booking: call the venue{number}")
}

/// The commands that book again at another time and list other slots, if booking again is safe.
fn book_again(booking: &Booking, now: Timestamp) -> Vec<String> {
    if booking.retry() == Retry::AfterCheck || booking.venue_id().is_none() {
        return vec![];
    }
    let again = shell::command("book --like", booking.id(), "--at WHEN");
    std::iter::once(again).chain(look_for_another(booking, now)).collect()
}

fn look_for_another(booking: &Booking, now: Timestamp) -> Option<String> {
    let (venue, wanted) = (booking.venue_id()?, booking.str("datetime")?);
    if !wanted.parse::<Timestamp>().is_ok_and(|at| at > now) {
        return None;
    }
    let mut flags = shell::flag("--at", wanted);
    if let Some(party) = booking.value().get("party_size").and_then(Value::as_u64) {
        flags.push_str(&format!(" --party {party}"));
    }
    if let Some(provider) = booking.str("provider") {
        flags.push_str(&format!(" {}", shell::flag("--provider", provider)));
    }
    Some(shell::command("slots", &venue, &flags))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn requested_fields_are_read_as_names_and_as_objects() {
        let requested = |fields: Value| {
            let action = json!({ "fields": fields });
            let texts = requested_fields(Some(&action)).into_iter().map(|it| (it.name, it.label));
            texts.collect::<Vec<_>>()
        };
        let seat = |label: Option<&str>| vec![("seat".to_owned(), label.map(str::to_owned))];
        assert_eq!(requested(json!(["seat", "", null])), seat(None));
        assert_eq!(
            requested(json!([{"name": "seat", "label": "Seat", "type": "text"}, {"label": "x"}])),
            seat(Some("Seat"))
        );
        assert_eq!(requested(json!({"seat": {"label": "Seat"}})), seat(Some("Seat")));
        assert_eq!(requested(json!("seat")), vec![]);
    }
}
