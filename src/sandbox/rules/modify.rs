//! The request to modify a booking, and what it changes ("Bookings": modify).

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::api_error::ApiError;
use super::booking::{Booking, Modification};
use super::error_code::ErrorCode;
use super::fields::{self, FieldErrors};
use super::provider_response::has_room;
use crate::sandbox::seed::{Scenario, Slot, Venue};

#[derive(Debug)]
pub(crate) struct ModifyRequest {
    pub(crate) at: Option<Timestamp>,
    party_size: Option<u8>,
    pub(crate) seating: Option<String>,
}

#[derive(Deserialize)]
struct Body {
    datetime: Option<String>,
    #[serde(default, deserialize_with = "fields::whole")]
    party_size: Option<i64>,
    seating_preference: Option<String>,
}

impl ModifyRequest {
    /// Reads the body: types, then values. At least one field is required.
    pub(crate) fn read(body: &Map<String, Value>, now: Timestamp) -> Result<Self, ApiError> {
        let body: Body = fields::read(body)?;
        let (datetime, seating) = (body.datetime, body.seating_preference);
        let mut errors = FieldErrors::default();
        if datetime.is_none() && body.party_size.is_none() && seating.is_none() {
            let demand = "send at least one of datetime, party_size and seating_preference";
            errors.add("datetime", demand);
        }
        let request = Self {
            at: datetime.and_then(|it| errors.future_moment("datetime", Some(it), now)),
            party_size: errors.party_size(body.party_size),
            seating: seating.and_then(|it| errors.required("seating_preference", Some(it))),
        };
        errors.finish(Some(request))
    }

    pub(crate) fn moves(&self, booking: &Booking) -> bool {
        self.at
            .is_some_and(|at| booking.datetime.parse().ok() != Some(at))
    }

    /// Whether the venue accepts the change. `slot` is the one at the new time, with the number of
    /// bookings in it.
    pub(crate) fn venue_answer(
        &self,
        booking: &Booking,
        venue: Option<&Venue>,
        slot: Option<(&Slot, u32)>,
    ) -> Result<(), ErrorCode> {
        if venue.and_then(|it| it.scenario) == Some(Scenario::ModifyRefused) {
            return Err(ErrorCode::ModificationRefused);
        }
        match slot {
            _ if !self.moves(booking) => Ok(()),
            None => Err(ErrorCode::NoAvailability),
            Some((slot, held)) if has_room(slot, held) => Ok(()),
            Some(_) => Err(ErrorCode::SlotTaken),
        }
    }

    /// The changed booking, with the changes in `last_modification`; `None` if nothing changes.
    /// `datetime` is the new time in the venue's zone.
    pub(crate) fn change(
        &self,
        booking: &Booking,
        datetime: Option<String>,
        slot: Option<&Slot>,
        now: Timestamp,
    ) -> Option<Booking> {
        let mut changed = booking.clone();
        let mut changes = Map::new();
        let mut note = |field: &str, from: Value, to: Value| {
            changes.insert(field.to_owned(), json!({"from": from, "to": to}));
        };
        if let Some(datetime) = datetime.filter(|_| self.moves(booking)) {
            note("datetime", json!(booking.datetime), json!(datetime));
            changed.datetime = datetime;
        }
        if let Some(party_size) = self.party_size.filter(|it| *it != booking.party_size) {
            note("party_size", json!(booking.party_size), json!(party_size));
            changed.party_size = party_size;
        }
        if self.seating.is_some() && self.seating != booking.seating {
            note(
                "seating_preference",
                json!(booking.seating),
                json!(self.seating),
            );
            changed.seating.clone_from(&self.seating);
        }
        if changes.is_empty() {
            return None;
        }
        if let Some(slot) = slot {
            changed.slot_id = Some(slot.id.clone());
        }
        changed.last_modification = Some(Modification { at: now, changes });
        Some(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::rules::booking::Customer;
    use crate::sandbox::rules::state::BookingState;
    use crate::sandbox::seed::{self, Provider};

    const NOW: &str = "2026-11-21T12:00:00Z";

    fn booking() -> Booking {
        let now = NOW.parse().unwrap();
        Booking {
            number: 1,
            organization: "org_sandbox".to_owned(),
            is_test: false,
            provider: Provider::A,
            venue_id: "ven_confirms".to_owned(),
            venue_name: None,
            datetime: "2026-12-01T19:00:00+00:00".to_owned(),
            party_size: 2,
            customer: Customer {
                name: "Ada Lovelace".to_owned(),
                email: None,
                phone: None,
            },
            end_user: None,
            seating: None,
            pays_by_vendor: false,
            webhook_url: None,
            slot_id: Some("slot_old".to_owned()),
            state: BookingState::Confirmed { error: None },
            last_modification: None,
            created_at: now,
            updated_at: now,
        }
    }

    fn read(body: &Value) -> Result<ModifyRequest, ApiError> {
        ModifyRequest::read(body.as_object().unwrap(), NOW.parse().unwrap())
    }

    #[test]
    fn a_change_of_nothing_is_none() {
        let same = json!({"datetime": "2026-12-01T20:00:00+01:00", "party_size": 2});
        let request = read(&same).unwrap();
        let datetime = Some("2026-12-01T19:00:00+00:00".to_owned());
        assert_eq!(
            request.change(&booking(), datetime, None, NOW.parse().unwrap()),
            None
        );
    }

    #[test]
    fn a_seating_that_is_not_sent_or_is_the_same_stays_as_it_is() {
        let seated = Booking {
            seating: Some("window".to_owned()),
            ..booking()
        };
        let change = |body: Value| {
            let request = read(&body).unwrap();
            request.change(&seated, None, None, NOW.parse().unwrap())
        };
        assert_eq!(change(json!({"seating_preference": "window"})), None);
        let changed = change(json!({"party_size": 4})).unwrap();
        assert_eq!(changed.seating.as_deref(), Some("window"));
        let changes = Value::Object(changed.last_modification.unwrap().changes);
        assert_eq!(changes, json!({"party_size": {"from": 2, "to": 4}}));
    }

    #[test]
    fn another_time_is_noted_and_takes_the_slot_at_that_time() {
        let request = read(&json!({"datetime": "2026-12-01T20:00:00Z"})).unwrap();
        let venue = seed::venue("ven_confirms").unwrap();
        let slot = seed::slots_at(venue, request.at.unwrap()).next().unwrap();
        let datetime = "2026-12-01T20:00:00+00:00".to_owned();
        let changed = request
            .change(
                &booking(),
                Some(datetime.clone()),
                Some(&slot),
                NOW.parse().unwrap(),
            )
            .unwrap();
        assert_eq!(changed.datetime, datetime);
        assert_eq!(changed.slot_id, Some(slot.id));
        let changes = Value::Object(changed.last_modification.unwrap().changes);
        assert_eq!(
            changes,
            json!({"datetime": {"from": "2026-12-01T19:00:00+00:00", "to": datetime}})
        );
    }

    #[test]
    fn only_what_is_another_is_noted_with_both_values() {
        let request = read(&json!({"party_size": 4, "seating_preference": "window"})).unwrap();
        let changed = request
            .change(&booking(), None, None, NOW.parse().unwrap())
            .unwrap();
        let modification = changed.last_modification.unwrap();
        assert_eq!(
            Value::Object(modification.changes),
            json!({
                "party_size": {"from": 2, "to": 4},
                "seating_preference": {"from": null, "to": "window"},
            })
        );
        assert_eq!(
            (changed.party_size, changed.slot_id.as_deref()),
            (4, Some("slot_old"))
        );
    }

    #[test]
    fn the_venue_refuses_a_time_without_room_and_takes_more_guests() {
        let venue = seed::venue("ven_confirms");
        let at = "2026-12-01T20:00:00Z".parse().unwrap();
        let slot = seed::slots_at(venue.unwrap(), at).next().unwrap();
        let later = read(&json!({"datetime": "2026-12-01T20:00:00Z"})).unwrap();
        let answer = |slot| later.venue_answer(&booking(), venue, slot);
        assert_eq!(answer(Some((&slot, 0))), Ok(()));
        assert_eq!(
            answer(Some((&slot, slot.capacity))),
            Err(ErrorCode::SlotTaken)
        );
        assert_eq!(answer(None), Err(ErrorCode::NoAvailability));
        let more = read(&json!({"party_size": 8})).unwrap();
        assert_eq!(more.venue_answer(&booking(), venue, None), Ok(()));
        let stubborn = seed::venue("ven_modify_refused");
        assert_eq!(
            more.venue_answer(&booking(), stubborn, None),
            Err(ErrorCode::ModificationRefused)
        );
    }

    #[test]
    fn nothing_at_all_and_a_time_that_is_past_are_refused() {
        for body in [
            json!({}),
            json!({"datetime": NOW}),
            json!({"party_size": 0}),
            json!({"seating_preference": " "}),
        ] {
            assert!(matches!(read(&body), Err(ApiError::Invalid(_))), "{body}");
        }
    }
}
