//! What a booking waits for: the question, where it was sent, and the time left.

use jiff::Timestamp;
use serde_json::Value;

use super::fields::{Fields, raw};
use crate::adapter::{Dialect, Pause};
use crate::json::plain;
use crate::model::booking::Booking;
use crate::model::certainty::Certainty;
use crate::model::money::{is_unit_known, money};
use crate::model::time_text::dated;
use crate::model::zone::system_zone;
use crate::terminal::output::Page;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AskedField {
    pub(crate) name: String,
    /// What the service calls it for people, if it does.
    pub(crate) label: Option<String>,
    /// Whether the service says that it is no text: a number or true or false.
    pub(crate) is_typed: bool,
    /// Whether the service says that it may be left empty.
    pub(crate) is_optional: bool,
}

/// The fields in `next_action.fields`: names, or objects with a name and a label, in a list or under their names.
pub(crate) fn asked_fields(action: Option<&Value>) -> Vec<AskedField> {
    let members = action.map(asked_members).unwrap_or_default();
    members.into_iter().map(|(field, _)| field).collect()
}

/// The fields that are asked, each with the values that it was read from.
fn asked_members(action: &Value) -> Vec<(AskedField, Vec<&Value>)> {
    let label = |field: &'_ Value| {
        let label = field.get("label").or_else(|| field.get("title"));
        let label = label.and_then(Value::as_str).map(str::to_owned);
        label.filter(|label| !label.is_empty())
    };
    let is_typed = |field: &'_ Value| {
        let kind = field.get("type").and_then(Value::as_str);
        matches!(kind, Some("boolean" | "bool" | "number" | "integer"))
    };
    let is_optional = |field: &'_ Value| {
        field.get("required") == Some(&Value::Bool(false))
            || field.get("optional") == Some(&Value::Bool(true))
    };
    let found = match action.get("fields") {
        Some(Value::Array(fields)) => fields
            .iter()
            .map(|field| {
                let name = match field {
                    Value::Object(_) => field.get("name").unwrap_or(&Value::Null),
                    name => name,
                };
                let asked = AskedField {
                    name: match name {
                        Value::Array(_) | Value::Object(_) => String::new(),
                        name => plain(name),
                    },
                    label: label(field),
                    is_typed: is_typed(field),
                    is_optional: is_optional(field),
                };
                (asked, shown_of(field, Some(name)))
            })
            .collect(),
        Some(Value::Object(fields)) => fields
            .iter()
            .map(|(name, field)| {
                let asked = AskedField {
                    name: name.clone(),
                    label: label(field),
                    is_typed: is_typed(field),
                    is_optional: is_optional(field),
                };
                (asked, shown_of(field, None))
            })
            .collect(),
        _ => Vec::new(),
    };
    let is_named = |(asked, _): &(AskedField, Vec<&Value>)| !asked.name.is_empty();
    found.into_iter().filter(is_named).collect()
}

/// The values of a field that its name and its label show.
fn shown_of<'a>(field: &'a Value, name: Option<&'a Value>) -> Vec<&'a Value> {
    let label = field.get("label").or_else(|| field.get("title"));
    let label = label.filter(|label| label.is_string());
    name.into_iter().chain(label).collect()
}

/// Adds what is needed, where it was sent, the service's own words, and when it expires. Takes from the booking's
/// fields what it shows.
pub(super) fn pause<'a>(
    page: &mut Page,
    fields: &mut Fields<'a>,
    booking: &'a Booking,
    dialect: &Dialect,
    now: Timestamp,
    certainty: Certainty,
) {
    if let Some(action) = booking.next_action() {
        if let Value::String(text) = action {
            page.field("waiting for", text);
            fields.took(action);
        } else {
            let kind = format!("next_action.{}", dialect.next_action_type_field);
            let kind = fields.scalar(&kind);
            let what = match dialect.pause(booking.next_action()) {
                Pause::Otp => Some("one-time code".to_owned()),
                Pause::Payment => Some("payment approval".to_owned()),
                Pause::Other => kind,
            };
            page.field_if("waiting for", waiting_for(fields, action, what));
        }
        page.field_if("message", member_text(fields, action, "message"));
        page.field_if("amount", amount(fields, action, certainty));
        if let Some(request) = action.get("psp_request") {
            page.field_if("payment data", parts(request));
            fields.took(request);
        }
        let asked = asked_members(action);
        if !asked.is_empty() {
            let names = asked.iter().map(|(field, _)| match &field.label {
                Some(label) => format!("{} ({label})", field.name),
                None => field.name.clone(),
            });
            page.field("fields", names.collect::<Vec<_>>().join(", "));
            for value in asked.into_iter().flat_map(|(_, values)| values) {
                fields.took(value);
            }
        }
    }
    if let Some(deadline) = booking.waits_until() {
        let label = if deadline > now { "expires" } else { "expired" };
        page.field(label, dated(deadline, now, &system_zone()));
        // The booking repeats the deadline of its action.
        let own = booking.value().get("expires_at");
        let repeats = own.filter(|own| Some(*own) == booking.deadline_value());
        for value in booking.deadline_value().into_iter().chain(repeats) {
            fields.took(value);
        }
    }
}

/// What is needed, and where it was sent: `one-time code (sent to +44 ··· 21 by sms)`.
fn waiting_for<'a>(
    fields: &mut Fields<'a>,
    action: &'a Value,
    what: Option<String>,
) -> Option<String> {
    let sent = member_text(fields, action, "sent_to");
    let sent = sent.map(|to| match member_text(fields, action, "channel") {
        Some(channel) => format!("sent to {to} by {channel}"),
        None => format!("sent to {to}"),
    });
    match (what, sent) {
        (Some(what), Some(sent)) => Some(format!("{what} ({sent})")),
        (what, sent) => what.or(sent),
    }
}

/// What is to be paid, in any shape.
fn amount<'a>(fields: &mut Fields<'a>, action: &'a Value, certainty: Certainty) -> Option<String> {
    let amount = action.get("amount")?;
    let currency = action.get("currency").filter(|it| it.is_string());
    let text = match amount {
        Value::Object(_) | Value::Array(_) => raw(amount, certainty),
        amount => money(amount, currency.and_then(Value::as_str), certainty).map(|text| {
            if is_unit_known(amount, certainty) {
                text
            } else {
                format!("{text}, in a unit that the service does not state")
            }
        }),
    }?;
    fields.took(amount);
    if let Some(currency) = currency.filter(|_| !amount.is_object()) {
        fields.took(currency);
    }
    Some(text)
}

fn member_text<'a>(fields: &mut Fields<'a>, action: &'a Value, name: &str) -> Option<&'a str> {
    let found = action.get(name)?;
    let text = found.as_str().filter(|text| !text.is_empty())?;
    fields.took(found);
    Some(text)
}

/// What the vendor needs on one line: `approval_id psp_1 · amount 4600`. Nothing is worded, because it is copied.
fn parts(request: &Value) -> Option<String> {
    let listed = crate::adapter::scalars(request).into_iter();
    let listed = listed.map(|(path, text)| {
        if path.is_empty() {
            text
        } else {
            format!("{path} {text}")
        }
    });
    let text = listed.collect::<Vec<_>>().join(" · ");
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_fields_that_are_asked_are_read_as_names_as_objects_and_under_their_names() {
        let asked = |fields: Value| {
            let fields = asked_fields(Some(&json!({ "fields": fields })));
            let texts = fields.into_iter().map(|it| (it.name, it.label));
            texts.collect::<Vec<_>>()
        };
        let seat = |label: Option<&str>| vec![("seat".to_owned(), label.map(str::to_owned))];
        assert_eq!(asked(json!(["seat", "", null])), seat(None));
        assert_eq!(
            asked(json!([{"name": "seat", "label": "Seat", "type": "text"}, {"label": "x"}])),
            seat(Some("Seat"))
        );
        assert_eq!(
            asked(json!({"seat": {"label": "Seat"}})),
            seat(Some("Seat"))
        );
        assert_eq!(asked(json!("seat")), vec![]);
    }
}
