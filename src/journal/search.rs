//! Finds bookings by what a person knows of them: a name, a phone number, a venue, a day.
//!
//! Search text is stored with the booking, without case and accents, and deleted with the guest.

use jiff::civil::Date;

use super::Journal;
use super::bookings::{KeptBooking, WITH_ASKED};
use super::runs::Actor;
use super::searched::LONGEST;
use crate::outcome::Result;
use crate::platform::sql::{SqlResult, Value};
use crate::service::documents::text_fold::{digits, fold};

const MOST_WORDS: usize = 32;
/// The shortest run of digits that is taken for a part of a phone number.
const SHORTEST_NUMBER: usize = 3;

/// What to look for. Every given field has to match.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchCriteria {
    /// Words that may stand in any field, or a part of a phone number.
    pub(crate) text: Option<String>,
    pub(crate) guest: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) venue: Option<String>,
    /// The first and the last day, by the venue's clock.
    pub(crate) days: Option<(Date, Date)>,
    pub(crate) status: Option<String>,
    /// Only what this user has made on this computer.
    pub(crate) mine: Option<Actor>,
    /// Lists visits from this day on first, the next one first.
    pub(crate) coming: Option<Date>,
}

#[derive(Debug)]
pub(crate) struct FoundBookings {
    pub(crate) stored: Vec<KeptBooking>,
    pub(crate) more: bool,
}

const FIELDS: [&str; 5] = ["guest", "email", "phone", "venue", "folded_id"];

struct Query<'a> {
    conditions: String,
    order: String,
    values: Vec<Value<'a>>,
}

impl<'a> Query<'a> {
    fn parameter(&mut self, value: impl Into<Value<'a>>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    fn contain(&mut self, fields: &[&str], part: &str) -> String {
        // Nothing that is searched is longer.
        let part: String = part.chars().take(LONGEST + 1).collect();
        let pattern = self.parameter(containing(&part));
        // A name may be typed without the blank that another person writes: 山田太郎, 山田 太郎.
        let text = |field: &&str| match *field {
            "guest" => vec![field.to_string(), format!("replace({field}, ' ', '')")],
            field => vec![field.to_owned()],
        };
        let texts = fields.iter().flat_map(text);
        let each = texts.map(|text| format!("{text} LIKE {pattern} ESCAPE '!'"));
        format!("({})", each.collect::<Vec<_>>().join(" OR "))
    }

    fn from_criteria(sought: &'a SearchCriteria, origin: &'a str) -> Self {
        let mut query = Query {
            conditions: "origin = ?1".to_owned(),
            order: "created_at DESC, id DESC".to_owned(),
            values: vec![Value::from(origin)],
        };
        let mut all = Vec::new();
        if let Some(status) = &sought.status {
            all.push(format!("status = {}", query.parameter(status)));
        }
        if let Some((first, last)) = sought.days {
            // Every time of the last day sorts before the tilde.
            let [first, last] = [first.to_string(), format!("{last}~")];
            let [first, last] = [first, last].map(|it| query.parameter(it));
            all.push(format!("visit BETWEEN {first} AND {last}"));
        }
        if let Some(Actor { user, host }) = &sought.mine {
            let [user, host] = [user, host].map(|it| query.parameter(it));
            all.push(format!(
                "EXISTS (SELECT 1 FROM bookings made JOIN runs ON runs.idempotency_key = made.idempotency_key
                         WHERE made.origin = ?1 AND made.id = bookings.id
                         AND coalesce(username, {user}) = {user} AND coalesce(host, {host}) = {host})"
            ));
        }
        all.extend(sought.phone.iter().map(|phone| query.contain(&["phone"], &number(phone))));
        for (field, part) in
            [("guest", &sought.guest), ("email", &sought.email), ("venue", &sought.venue)]
        {
            for word in part.iter().flat_map(|part| words(part)) {
                all.push(query.contain(&[field], &word));
            }
        }
        if let Some(text) = &sought.text {
            let each = words(text).into_iter().take(MOST_WORDS);
            let each: Vec<_> = each.map(|word| query.contain(&FIELDS, &word)).collect();
            let signs = |c: char| c.is_ascii_digit() || " +-()./".contains(c);
            let is_number = text.chars().all(signs) && digits(text).len() >= SHORTEST_NUMBER;
            let mut found = each.join(" AND ");
            if is_number {
                found = format!("{found} OR {}", query.contain(&["phone"], &number(text)));
            }
            all.push(format!("({found})"));
        }
        // The search index has no others: the guest was deleted.
        let has_text = query.values.len() > 1 + usize::from(sought.status.is_some());
        all.extend(has_text.then(|| "guest IS NOT NULL".to_owned()));
        for condition in all {
            query.conditions.push_str(" AND ");
            query.conditions.push_str(&condition);
        }
        if let Some(today) = sought.coming {
            let today = query.parameter(today.to_string());
            let later = &query.order;
            query.order = format!(
                "CASE WHEN visit >= {today} AND status NOT IN ('failed', 'cancelled', 'expired') THEN visit ELSE 'never' END, {later}"
            );
        }
        query
    }

    /// The ids of what is found come first: an index has all that is looked at for them. SQLite
    /// keeps to the order of a CROSS JOIN; it would look for them again at each booking.
    fn text(&self, limit: usize) -> String {
        let Query { conditions, order, .. } = self;
        format!(
            "SELECT {WITH_ASKED} FROM (SELECT id AS found FROM bookings WHERE {conditions} ORDER BY {order} LIMIT {limit}) AS first
             CROSS JOIN bookings WHERE origin = ?1 AND id = found ORDER BY {order}"
        )
    }
}

impl Journal {
    /// The bookings at this service that match, coming or newest first. `None` lists all.
    pub(crate) fn find(
        &self,
        sought: &SearchCriteria,
        limit: Option<u32>,
    ) -> Result<FoundBookings> {
        let limit = limit.map_or(i32::MAX as usize, |limit| limit as usize);
        self.read(|statements, scope| {
            let query = Query::from_criteria(sought, &scope.origin);
            let rows = statements.query(&query.text(limit.saturating_add(1)), &query.values)?;
            let stored = rows.iter().take(limit).map(KeptBooking::read);
            Ok(FoundBookings {
                stored: stored.collect::<SqlResult<_>>()?,
                more: rows.len() > limit,
            })
        })
    }
}

/// The pattern of texts that contain a part, for LIKE with `ESCAPE '!'`.
pub(super) fn containing(part: &str) -> String {
    format!("%{}%", part.replace('!', "!!").replace('%', "!%").replace('_', "!_"))
}

fn words(text: &str) -> Vec<String> {
    let mut folded = fold(text);
    if folded.trim().is_empty() {
        // An apostrophe alone, which stands in no text that is searched.
        folded = text.to_owned();
    }
    folded.split_whitespace().map(str::to_owned).collect()
}

/// The digits of a phone number, without the zeros that stand for a country.
fn number(phone: &str) -> String {
    match digits(phone) {
        // No phone number that is searched has anything but digits.
        digits if digits.is_empty() => phone.to_owned(),
        digits => digits.trim_start_matches('0').to_owned(),
    }
}

#[cfg(test)]
mod tests;
