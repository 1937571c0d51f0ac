//! The fields of a batch row: which there are, and what they may hold.

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde_json::{Map, Value};
use strsim::levenshtein;

use super::problem::{Problem, quoted};
use crate::client::NewBooking;
use crate::model::document_time::DocumentTime;

/// The fields that a row may have. Any other is an error: it could be a misspelt field.
const FIELDS: &[&str] = &[
    "venue_id",
    "provider",
    "datetime",
    "availability_id",
    "party_size",
    "customer",
    "end_user",
    "webhook_url",
    "payment_collection",
    "idempotency_key",
];

const CUSTOMER: &[&str] = &["name", "email", "phone"];

/// A time as it may be written, where the row does not show which one is meant.
const EXAMPLE_TIME: &str = "2026-12-01T19:30:00+01:00";

/// A row's booking request, and its own idempotency key; or everything that is wrong with the row.
///
/// `local_times` is whether times without an offset are the venue's own.
pub(super) fn booking(
    row: &Value,
    local_times: bool,
) -> Result<(Value, Option<String>), Vec<Problem>> {
    let mut problems = Vec::new();
    let Some(row) = row.as_object() else {
        return Err(vec![Problem::new("it is not a JSON object")]);
    };
    problems.extend(unknown(row, "", FIELDS));
    let mut fields = Fields::new(row, "", &mut problems);
    let booking = fields.booking(local_times);
    let idempotency_key = fields.idempotency_key();
    let guest = guest(row.get("customer"), &mut problems);
    match booking.zip(guest) {
        Some((booking, (name, email, phone))) if problems.is_empty() => {
            let booking = NewBooking {
                name,
                email,
                phone,
                ..booking
            };
            Ok((Value::Object(booking.body()), idempotency_key))
        }
        _ => Err(problems),
    }
}

fn guest(
    customer: Option<&Value>,
    problems: &mut Vec<Problem>,
) -> Option<(String, Option<String>, Option<String>)> {
    let nobody = Map::new();
    let customer = match customer {
        None | Some(Value::Null) => &nobody,
        Some(Value::Object(customer)) => customer,
        Some(other) => {
            let message = format!("customer must be an object, not {}", quoted(other));
            problems.push(Problem::of("customer", message).value(other));
            return None;
        }
    };
    problems.extend(unknown(customer, "customer.", CUSTOMER));
    let mut customer = Fields::new(customer, "customer.", problems);
    let name = customer.needed("name");
    let (email, phone) = (customer.text("email"), customer.text("phone"));
    Some((name?, email, phone))
}

/// The problem of a name that is no column of a CSV file; `None` if it is one.
pub(super) fn unknown_column(name: &str) -> Option<Problem> {
    let known: Vec<String> = column_names().collect();
    (!known.iter().any(|it| it == name)).then(|| not_known("column", name, &known))
}

fn column_names() -> impl Iterator<Item = String> {
    FIELDS.iter().flat_map(|field| match *field {
        "customer" => CUSTOMER.iter().map(|it| format!("customer.{it}")).collect(),
        field => vec![field.to_owned()],
    })
}

fn unknown(object: &Map<String, Value>, prefix: &str, known: &[&str]) -> Vec<Problem> {
    let others = object.keys().filter(|key| !known.contains(&key.as_str()));
    let known: Vec<String> = known.iter().map(|it| format!("{prefix}{it}")).collect();
    others
        .map(|other| not_known("field", &format!("{prefix}{other}"), &known))
        .collect()
}

fn not_known(what: &str, name: &str, known: &[String]) -> Problem {
    let meant = match meant(name, known) {
        Some(meant) => format!("did you mean {meant}? "),
        None => String::new(),
    };
    let message = format!(
        "unknown {what} {name}; {meant}known {what}s: {}",
        known.join(", ")
    );
    Problem::of(name, message)
}

/// The known name that is like this one, or of which it is a part: `name` stands for `customer.name`.
fn meant<'a>(name: &str, known: &'a [String]) -> Option<&'a String> {
    let plain: String = name
        .to_ascii_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let word = match plain.trim_matches('_') {
        "guest" | "guest_name" | "customer" | "customer_name" => "name",
        "date" | "time" | "when" | "at" => "datetime",
        "people" | "persons" | "guests" => "party_size",
        "tel" | "telephone" | "mobile" => "phone",
        "mail" | "e_mail" => "email",
        other => other,
    };
    let is_part = |it: &&String| it.split(['.', '_']).any(|part| part == word);
    let nearest = |it: &&String| {
        let last = it.rsplit('.').next().unwrap_or(it);
        levenshtein(word, last) <= 2 && word.len() > 2
    };
    let exact = |it: &&String| it.rsplit('.').next() == Some(word);
    let found = known.iter().find(exact);
    found
        .or_else(|| known.iter().find(is_part))
        .or_else(|| known.iter().find(nearest))
}

/// Reads the fields of an object, and collects what is wrong with them.
struct Fields<'a> {
    object: &'a Map<String, Value>,
    prefix: &'static str,
    problems: &'a mut Vec<Problem>,
}

impl<'a> Fields<'a> {
    fn new(
        object: &'a Map<String, Value>,
        prefix: &'static str,
        problems: &'a mut Vec<Problem>,
    ) -> Self {
        Fields {
            object,
            prefix,
            problems,
        }
    }

    /// The booking without its guest.
    fn booking(&mut self, local_times: bool) -> Option<NewBooking> {
        let venue_id = self.id("venue_id");
        if venue_id.is_none() && !self.is_reported("venue_id") {
            self.missing("venue_id");
        }
        let provider = self.text("provider");
        let availability_id = self.id("availability_id");
        let datetime = self.time(local_times || availability_id.is_some());
        let party_size = self.party_size();
        let (end_user, webhook_url) = (self.text("end_user"), self.text("webhook_url"));
        let vendor_payment = self.vendor_payment();
        Some(NewBooking {
            venue_id: venue_id?,
            provider,
            datetime: datetime?,
            availability_id,
            party_size: party_size?,
            name: String::new(),
            email: None,
            phone: None,
            end_user,
            webhook_url,
            vendor_payment,
        })
    }

    fn wrong(&mut self, field: &str, message: String) {
        let problem = Problem::of(format!("{}{field}", self.prefix), message);
        self.problems.push(match self.object.get(field) {
            Some(value) => problem.value(value),
            None => problem,
        });
    }

    fn missing(&mut self, field: &str) {
        let name = format!("{}{field}", self.prefix);
        self.problems
            .push(Problem::of(&name, format!("{name} is missing")));
    }

    /// Whether [`Fields::text`] has reported the field, because it is no text.
    fn is_reported(&self, field: &str) -> bool {
        !matches!(
            self.object.get(field),
            None | Some(Value::Null | Value::String(_))
        )
    }

    /// The text of a field; `None` if it is absent, `null` or a problem.
    fn text(&mut self, field: &str) -> Option<String> {
        match self.object.get(field) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => {
                let name = format!("{}{field}", self.prefix);
                self.wrong(field, format!("{name} must be text, not {}", quoted(other)));
                None
            }
        }
    }

    /// The text of a required field: there is no default venue or guest.
    fn needed(&mut self, field: &str) -> Option<String> {
        let text = self.text(field).filter(|text| !text.trim().is_empty());
        if text.is_none() && !self.is_reported(field) {
            self.missing(field);
        }
        text
    }

    /// An id, a text or a number, as it is sent. `null` counts as missing.
    fn id(&mut self, field: &str) -> Option<Value> {
        match self.object.get(field) {
            Some(Value::Number(number)) => Some(Value::Number(number.clone())),
            _ => {
                let text = self.text(field).filter(|text| !text.trim().is_empty());
                text.map(Value::from)
            }
        }
    }

    fn party_size(&mut self) -> Option<u32> {
        let value = match self.object.get("party_size") {
            None | Some(Value::Null) => {
                self.missing("party_size");
                return None;
            }
            Some(value) => value,
        };
        let size = value.as_u64().and_then(|size| u32::try_from(size).ok());
        let size = size.filter(|size| *size > 0);
        if size.is_none() {
            let value = quoted(value);
            let message = format!("party_size must be a whole number from 1, not {value}");
            self.wrong("party_size", message);
        }
        size
    }

    /// The time, as it is sent: with an offset, or as a slot of the service gives it, which may be a number since 1970 or,
    /// where the venue's own clock is meant, a text without an offset.
    fn time(&mut self, may_be_local: bool) -> Option<Value> {
        if let Some(number @ Value::Number(_)) = self.object.get("datetime")
            && DocumentTime::read(number).is_some()
        {
            return Some(number.clone());
        }
        let text = self.needed("datetime")?;
        let is_local = || may_be_local && text.parse::<DateTime>().is_ok();
        if text.parse::<Timestamp>().is_ok() || is_local() {
            return Some(text.into());
        }
        let value = quoted(&Value::from(text.as_str()));
        let example = rewritten(&text).unwrap_or_else(|| EXAMPLE_TIME.to_owned());
        let message =
            format!("datetime {value} is not valid; use a time with an offset, e.g. {example}");
        self.wrong("datetime", message);
        None
    }

    fn vendor_payment(&mut self) -> bool {
        match self.text("payment_collection").as_deref() {
            None => false,
            Some("vendor_external") => true,
            Some(other) => {
                let other = quoted(&Value::from(other));
                let message = format!("payment_collection must be vendor_external, not {other}");
                self.wrong("payment_collection", message);
                false
            }
        }
    }

    fn idempotency_key(&mut self) -> Option<String> {
        let key = self.text("idempotency_key")?;
        if !is_key(&key) {
            let message = "idempotency_key must have 1 to 255 ASCII characters without spaces";
            self.wrong("idempotency_key", message.to_owned());
        }
        Some(key)
    }
}

pub(crate) fn is_key(text: &str) -> bool {
    !text.is_empty() && text.len() <= 255 && text.chars().all(|c| c.is_ascii_graphic())
}

/// A time as spreadsheets write it, in the form that a row needs. `None` if its day is not certain: 03/04/2026 is two days.
fn rewritten(text: &str) -> Option<String> {
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map(str::parse::<i16>);
    let mut next = || numbers.next()?.ok();
    let (first, second, third) = (next()?, next()?, next()?);
    let (year, month, day) = match (first, second, third) {
        (1000.., ..) => (first, second, third),
        (13..=31, 1..=12, 1000..) => (third, second, first),
        (1..=12, 13..=31, 1000..) => (third, first, second),
        _ => return None,
    };
    let (hour, minute) = (next()?, next()?);
    let narrow = |number: i16| i8::try_from(number).ok();
    let (month, day) = (narrow(month)?, narrow(day)?);
    let time = DateTime::new(year, month, day, narrow(hour)?, narrow(minute)?, 0, 0).ok()?;
    Some(format!("{time}+00:00"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_a_spreadsheet_is_rewritten_where_its_day_is_certain() {
        for (text, example) in [
            ("27/11/2026 18:00", Some("2026-11-27T18:00:00+00:00")),
            ("27.11.2026 18:00:30", Some("2026-11-27T18:00:00+00:00")),
            ("11/27/2026 18:00", Some("2026-11-27T18:00:00+00:00")),
            ("2026-11-27 18:00", Some("2026-11-27T18:00:00+00:00")),
            ("03/04/2026 18:00", None),
            ("31/02/2026 18:00", None),
            ("tomorrow", None),
            ("27/11/2026", None),
        ] {
            assert_eq!(rewritten(text).as_deref(), example, "{text}");
        }
    }

    #[test]
    fn a_column_that_is_misspelt_or_shortened_is_recognized() {
        let known: Vec<String> = column_names().collect();
        for (name, column) in [
            ("name", Some("customer.name")),
            ("Guest Name", Some("customer.name")),
            ("customer.nam", None),
            ("nmae", Some("customer.name")),
            ("party", Some("party_size")),
            ("party size", Some("party_size")),
            ("venue", Some("venue_id")),
            ("date time", Some("datetime")),
            ("when", Some("datetime")),
            ("colour", None),
        ] {
            let found = meant(name, &known).map(String::as_str);
            assert!(
                found == column || column.is_none() && name.contains('.'),
                "{name}: {found:?}"
            );
        }
    }
}
