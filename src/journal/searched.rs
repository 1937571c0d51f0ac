//! What a booking is searched by, as it is stored with it: texts without case and accents, and the
//! time of the visit.

use serde_json::Value as Json;

use super::scope::Scope;
use crate::json::plain;
use crate::secrets::redact;
use crate::service::documents::booking::Booking;
use crate::service::documents::text_fold::{digits, fold};
use crate::service::time::document_time::DocumentTime;

/// The longest part of a field that is searched, in characters.
pub(super) const LONGEST: usize = 200;

/// The name, the email address and the phone number of its guest, its venue, its id, and its time by
/// the venue's clock, to the minute. A guest is found by what the service shows, perhaps masked, and
/// by what was asked for. A service may repeat a key in any of them.
pub(super) fn searched_texts(
    booking: &Booking,
    requested: Option<&Json>,
    scope: &Scope,
) -> [Option<String>; 6] {
    let guest = |field: &str| {
        let of = |document: &Json| Some(plain(document.get("customer")?.get(field)?));
        let displayed = of(booking.value()).unwrap_or_default();
        match requested.and_then(of) {
            Some(requested) if fold(&requested) != fold(&displayed) => {
                format!("{displayed} {requested}")
            }
            _ => displayed,
        }
    };
    let time = |of: &Json| DocumentTime::from_field(of, "datetime");
    let time = time(booking.value()).or_else(|| time(requested?));
    let venue_asked = || requested?.get("venue_id").map(plain);
    let venue_id = booking.venue_id().or_else(venue_asked).unwrap_or_default();
    let look_up = scope.venue.as_ref();
    let venue = look_up.and_then(|look_up| look_up(&venue_id));
    let zone = venue.as_ref().and_then(|venue| venue.timezone());
    let name = venue.map(|venue| venue.name().to_owned());
    let name = booking.venue_name().or(name).unwrap_or_default();
    // SQLite compares no further than a NUL.
    let text = |text: String| Some(text.replace('\0', " ").chars().take(LONGEST).collect());
    let visit = time.and_then(|time| time.local_in(zone.as_ref()));
    [
        text(fold(&redact(&guest("name")))),
        text(fold(&redact(&guest("email")))),
        text(digits(&redact(&guest("phone")))),
        text(fold(&redact(&format!("{name} {venue_id}")))),
        text(fold(booking.id())),
        visit.map(|local| local.strftime("%FT%H:%M").to_string()),
    ]
}
