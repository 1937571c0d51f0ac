//! The table of bookings.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, params};

use super::tx::{Tx, invalid_column, moment};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::error_code::ErrorCode;
use crate::sandbox::rules::state::{BookingState, Status};
use crate::sandbox::rules::transition::{EventKind, Transition};
use crate::sandbox::seed::Provider;

/// A query over bookings, with the columns in the order that [`booking`] reads them.
macro_rules! bookings {
    ($rest:literal) => {
        concat!(
            "SELECT number, organization, is_test, provider, venue_id, datetime, party_size, \
             customer, end_user, seating, pays_by_vendor, webhook_url, slot_id, status, \
             error_code, pause, last_modification, created_at, updated_at, due_at, venue_name \
             FROM bookings ",
            $rest
        )
    };
}

impl Tx<'_> {
    /// Inserts a new booking with the transition applied, and records its webhook events.
    pub(crate) fn create_booking(
        &self,
        booking: &mut Booking,
        transition: Transition,
    ) -> Result<(), ApiError> {
        booking.state = transition.state;
        self.insert_booking(booking)?;
        let kinds = [EventKind::Created].into_iter().chain(transition.webhook);
        self.record_events(booking, kinds, self.now)
    }

    /// Applies a transition to a booking, and records its webhook event.
    pub(crate) fn apply(
        &self,
        booking: &mut Booking,
        transition: Transition,
        at: Timestamp,
    ) -> Result<(), ApiError> {
        booking.state = transition.state;
        booking.updated_at = at;
        self.update(booking)?;
        self.record_events(booking, transition.webhook, at)
    }

    /// The organization's booking of that number.
    pub(crate) fn booking(
        &self,
        organization: &str,
        number: i64,
    ) -> rusqlite::Result<Option<Booking>> {
        self.sql(bookings!("WHERE number = ? AND organization = ?"))?
            .query_row((number, organization), booking)
            .optional()
    }

    /// The booking of that number, whosever it is.
    pub(crate) fn any_booking(&self, number: i64) -> rusqlite::Result<Option<Booking>> {
        self.sql(bookings!("WHERE number = ?"))?
            .query_row([number], booking)
            .optional()
    }

    /// The booking that was created with an idempotency key.
    pub(crate) fn booking_of_key(
        &self,
        organization: &str,
        key: &str,
    ) -> rusqlite::Result<Option<Booking>> {
        self.sql(bookings!(
            "WHERE number = (SELECT booking FROM idempotency_keys \
             WHERE organization = ? AND key = ?)"
        ))?
        .query_row((organization, key), booking)
        .optional()
    }

    /// Remembers that the key created the booking.
    pub(crate) fn save_idempotency_key(
        &self,
        key: &str,
        booking: &Booking,
    ) -> rusqlite::Result<()> {
        self.sql("INSERT INTO idempotency_keys VALUES (?, ?, ?)")?
            .execute((&booking.organization, key, booking.number))?;
        Ok(())
    }

    /// Every booking, oldest first; only those of `organization` if given.
    pub(crate) fn bookings(&self, organization: Option<&str>) -> rusqlite::Result<Vec<Booking>> {
        self.sql(bookings!(
            "WHERE ?1 IS NULL OR organization = ?1 ORDER BY number"
        ))?
        .query_map([organization], booking)?
        .collect()
    }

    /// The organization's unfinished bookings of the last day, oldest first.
    pub(crate) fn open_bookings(&self, organization: &str) -> rusqlite::Result<Vec<Booking>> {
        const DAY_MS: i64 = 86_400_000;
        self.sql(bookings!(
            "WHERE status IN ('requires_action', 'processing') \
             AND organization = ? AND created_at >= ? ORDER BY created_at, number"
        ))?
        .query_map((organization, self.now.as_millisecond() - DAY_MS), booking)?
        .collect()
    }

    /// How many bookings of the organization occupy a slot. Each organization has slots of its own, so that tests that run
    /// at once do not take each other's.
    pub(crate) fn held(&self, organization: &str, slot: &str) -> rusqlite::Result<u32> {
        self.sql("SELECT count(*) FROM bookings WHERE held_slot = ? AND organization = ?")?
            .query_row((slot, organization), |row| row.get(0))
    }

    /// How many bookings of the test allowance the organization used, counted up to `limit`.
    pub(crate) fn used_allowance(&self, organization: &str, limit: u32) -> rusqlite::Result<u32> {
        self.sql(
            "SELECT count(*) FROM \
             (SELECT 1 FROM bookings WHERE organization = ? AND used_allowance = 1 LIMIT ?)",
        )?
        .query_row((organization, limit), |row| row.get(0))
    }

    /// The first booking that is due to change by time alone, and when it was due.
    pub(super) fn next_due_booking(&self) -> rusqlite::Result<Option<(Booking, Timestamp)>> {
        self.sql(bookings!(
            "WHERE due_at <= ? ORDER BY due_at, number LIMIT 1"
        ))?
        .query_row([self.now.as_millisecond()], |row| {
            Ok((booking(row)?, moment(row.get("due_at")?)?))
        })
        .optional()
    }

    pub(super) fn insert_booking(&self, booking: &Booking) -> Result<(), ApiError> {
        let columns = Columns::of(booking)?;
        self.sql(
            "INSERT INTO bookings VALUES \
             (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            booking.number,
            booking.organization,
            booking.is_test,
            booking.provider.id(),
            booking.venue_id,
            booking.datetime,
            booking.party_size,
            json(&booking.customer)?,
            booking.end_user,
            booking.seating,
            booking.pays_by_vendor,
            booking.webhook_url,
            booking.slot_id,
            columns.status,
            columns.error_code,
            columns.pause,
            columns.last_modification,
            booking.created_at.as_millisecond(),
            booking.updated_at.as_millisecond(),
            columns.due_at,
            columns.held_slot,
            columns.used_allowance,
            booking.venue_name,
        ])?;
        Ok(())
    }

    fn update(&self, booking: &Booking) -> Result<(), ApiError> {
        let columns = Columns::of(booking)?;
        self.sql(
            "UPDATE bookings SET datetime = ?2, party_size = ?3, seating = ?4, slot_id = ?5, \
             status = ?6, error_code = ?7, pause = ?8, last_modification = ?9, updated_at = ?10, \
             due_at = ?11, held_slot = ?12, used_allowance = max(used_allowance, ?13) \
             WHERE number = ?1",
        )?
        .execute(params![
            booking.number,
            booking.datetime,
            booking.party_size,
            booking.seating,
            booking.slot_id,
            columns.status,
            columns.error_code,
            columns.pause,
            columns.last_modification,
            booking.updated_at.as_millisecond(),
            columns.due_at,
            columns.held_slot,
            columns.used_allowance,
        ])?;
        Ok(())
    }
}

/// The columns that follow from a booking's state.
struct Columns<'a> {
    status: &'static str,
    error_code: Option<&'static str>,
    pause: Option<String>,
    last_modification: Option<String>,
    due_at: Option<i64>,
    held_slot: Option<&'a str>,
    used_allowance: bool,
}

impl<'a> Columns<'a> {
    fn of(booking: &'a Booking) -> Result<Self, ApiError> {
        let state = &booking.state;
        Ok(Self {
            status: state.status().as_str(),
            error_code: state.error().map(ErrorCode::as_str),
            pause: state.pause().map(json).transpose()?,
            last_modification: booking.last_modification.as_ref().map(json).transpose()?,
            due_at: state.due_at().map(Timestamp::as_millisecond),
            held_slot: booking.slot_id.as_deref().filter(|_| state.holds_slot()),
            used_allowance: booking.is_test && state.status() == Status::Confirmed,
        })
    }
}

pub(super) fn json(value: &impl serde::Serialize) -> Result<String, ApiError> {
    serde_json::to_string(value).map_err(|error| ApiError::Broken(error.to_string()))
}

/// Reads a row of [`bookings!`].
fn booking(row: &Row<'_>) -> rusqlite::Result<Booking> {
    let provider: String = row.get(3)?;
    let customer: String = row.get(7)?;
    let last_modification: Option<String> = row.get(16)?;
    Ok(Booking {
        number: row.get(0)?,
        organization: row.get(1)?,
        is_test: row.get(2)?,
        provider: Provider::parse(&provider).ok_or_else(|| invalid_column(3, &provider))?,
        venue_id: row.get(4)?,
        datetime: row.get(5)?,
        party_size: row.get(6)?,
        customer: serde_json::from_str(&customer).map_err(|_| invalid_column(7, &customer))?,
        end_user: row.get(8)?,
        seating: row.get(9)?,
        pays_by_vendor: row.get(10)?,
        webhook_url: row.get(11)?,
        slot_id: row.get(12)?,
        state: state(row)?,
        last_modification: last_modification
            .map(|it| serde_json::from_str(&it).map_err(|_| invalid_column(16, &it)))
            .transpose()?,
        created_at: moment(row.get(17)?)?,
        updated_at: moment(row.get(18)?)?,
        venue_name: row.get(20)?,
    })
}

/// Reads the state from its columns.
fn state(row: &Row<'_>) -> rusqlite::Result<BookingState> {
    let status: String = row.get(13)?;
    let error: Option<String> = row.get(14)?;
    let error = error
        .map(|it| ErrorCode::parse(&it).ok_or_else(|| invalid_column(14, &it)))
        .transpose()?;
    Ok(match (status.as_str(), error) {
        ("requires_action", _) => {
            let pause: String = row.get(15)?;
            BookingState::RequiresAction(
                serde_json::from_str(&pause).map_err(|_| invalid_column(15, &pause))?,
            )
        }
        ("processing", _) => BookingState::Processing {
            until: moment(row.get(19)?)?,
        },
        ("confirmed", error) => BookingState::Confirmed { error },
        ("failed", Some(error)) => BookingState::Failed { error },
        ("cancelled", _) => BookingState::Cancelled,
        ("expired", _) => BookingState::Expired,
        _ => return Err(invalid_column(13, &status)),
    })
}
