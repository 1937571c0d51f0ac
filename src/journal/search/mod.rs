//! Finds bookings by what a person knows of them: a name, a phone number, a venue, a day.
//!
//! Nothing is written for it when a booking is stored: a booking request does not wait for it. Deleting a guest deletes
//! what was searched.

mod column;
mod needles;
mod text;

use jiff::civil::Date;

use self::needles::Needles;
use self::text::{Field, Venues};
use super::Journal;
use super::bookings::{KeptBooking, kept_with_id};
use super::runs::Maker;
use crate::model::venue::Venue;
use crate::outcome::Result;
use crate::platform::sql::{Answer, Value};

/// What to look for. Every given field has to match.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sought {
    /// Words that may stand in any field, or a part of a phone number.
    pub(crate) text: Option<String>,
    pub(crate) guest: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) email: Option<String>,
    /// A part of the venue's name or id.
    pub(crate) venue: Option<String>,
    /// The first and the last day, by the venue's clock.
    pub(crate) days: Option<(Date, Date)>,
    pub(crate) status: Option<String>,
    /// Only what this user has made on this machine.
    pub(crate) mine: Option<Maker>,
}

impl Sought {
    fn needles(&self) -> Needles {
        let fields = [
            (Field::Guest, &self.guest),
            (Field::Email, &self.email),
            (Field::Venue, &self.venue),
            (Field::Phone, &self.phone),
        ];
        Needles::new(fields, self.text.as_deref())
    }

    /// The first and the last day, as they stand in documents.
    fn days_as_text(&self) -> Option<(String, String)> {
        let (first, last) = self.days?;
        Some((first.to_string(), last.to_string()))
    }
}

/// The bookings that were found, newest first.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) kept: Vec<KeptBooking>,
    /// Whether there are more than were asked for.
    pub(crate) more: bool,
}

impl Journal {
    /// The bookings at this service that match, newest first, without those that the service lost. `None` lists all.
    ///
    /// `venue` looks up a venue by its id, for its name and its time zone.
    pub(crate) fn find(
        &mut self,
        sought: &Sought,
        limit: Option<u32>,
        venue: &dyn Fn(&str) -> Option<Venue>,
    ) -> Result<Found> {
        let most = limit.map_or(usize::MAX, |limit| limit as usize);
        let needles = sought.needles();
        let is_listing = needles.are_none() && sought.days.is_none() && sought.mine.is_none();
        let mut kept = if is_listing {
            let ask = limit.map(|limit| limit.saturating_add(1));
            self.bookings(sought.status.as_deref(), ask)?
        } else {
            let venues = Venues::new(venue);
            let most = most.saturating_add(1);
            let ids = self.find_ids(sought, &needles, most, &venues)?;
            self.kept_of(&ids)?
        };
        let more = kept.len() > most;
        kept.truncate(most);
        Ok(Found { kept, more })
    }

    /// The bookings with these ids, in their order, without those whose documents cannot be read.
    fn kept_of(&self, ids: &[String]) -> Result<Vec<KeptBooking>> {
        let query = kept_with_id();
        let mut kept = Vec::new();
        for ids in ids.chunks(ASKED_TOGETHER) {
            let rows = ids
                .iter()
                .map(|id| [Value::from(&self.scope.origin), Value::from(id)]);
            let rows: Vec<_> = rows.collect();
            let queries = rows.iter().map(|row| (query.as_str(), row.as_slice()));
            let queries: Vec<_> = queries.collect();
            let found: Vec<KeptBooking> = self.read(|statements| {
                let found = statements.together(&queries)?.into_iter().flatten();
                let found = found.map(KeptBooking::read);
                found.filter_map(Answer::transpose).collect()
            })?;
            kept.extend(found);
        }
        Ok(kept)
    }
}

/// How many bookings are asked for in one go.
const ASKED_TOGETHER: usize = 1000;

#[cfg(test)]
mod tests;
