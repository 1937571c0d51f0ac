//! `bookings --refresh`: reads every coming booking, and reports what is not as booked.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::pick::{self, local_visit};
use crate::app::{Parts, Records};
use crate::booking::finish::{own_changes, store_and_judge};
use crate::booking::verdict::{changes, compared};
use crate::booking::watch::wait::{is_about_one, is_not_found, read_booking};
use crate::journal::{BookingWrite, KeptBooking, SearchCriteria};
use crate::outcome::{Exit, Result};
use crate::service::documents::{Agreement, Booking, Compared, Status, Weight, Wish, plural};
use crate::service::mapping::WriteKind;
use crate::service::time::system_zone;
use crate::terminal::output::{Draw, Page, TableCell, Tone};
use crate::terminal::view::change_text;

/// A booking that differs from what this computer saw last, or from what was asked for.
#[derive(Serialize)]
struct Changed {
    id: String,
    /// Whether the guest can still come as booked: nothing but the status differs, to one that is
    /// known and has not ended.
    as_booked: bool,
    /// Each field that differs, with the values `from` and `to`.
    changes: Map<String, Value>,
    guest: Option<String>,
    venue: Option<String>,
}

#[derive(Serialize)]
struct Refreshed {
    checked: usize,
    changed: Vec<Changed>,
}

pub(super) async fn run(parts @ Parts { api, records, ui, .. }: &Parts) -> Result<Exit> {
    pick::take_in_received(parts)?;
    api.wait_for_rate_limits();
    let today = system_zone().to_datetime(api.facts.service_now()).date();
    let sought = SearchCriteria { coming: Some(today), ..SearchCriteria::default() };
    let journal = records.journal()?;
    let mut stored = journal.find(&sought, None)?.stored;
    // Of a marked booking the visit may not be known.
    let is_marked = |it: &KeptBooking| it.unresolved_key.is_some();
    stored.retain(|it| is_marked(it) || local_visit(it).is_some_and(|at| at.date() >= today));
    let progress = ui.out.progress_of(stored.len());
    let (mut all, mut read, mut failed, mut checked) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for stored in &stored {
        let (id, status) = (stored.booking.id(), stored.booking.status());
        progress.step();
        if !is_marked(stored) && !status.has_not_ended() {
            // After it was confirmed, that is not as booked, whoever has read it first.
            let confirmed = Status::Confirmed;
            if journal.sightings(id)?.iter().any(|it| it.status() == confirmed) {
                all.extend(changed(records, stored, &confirmed, Some(&stored.booking)));
            }
            continue;
        }
        let booking = match read_booking(api, id).await {
            Ok(booking) => Some(booking),
            Err(error) if is_not_found(&error) => None,
            Err(mut error) => {
                error.message = format!("booking {id} was not read: {}", error.message);
                let is_last = !is_about_one(&error);
                failed.push(error);
                if is_last {
                    break;
                }
                continue;
            }
        };
        all.extend(changed(records, stored, &status, booking.as_ref()));
        read.extend(booking);
        checked += 1;
    }
    drop(progress);
    let all_as_booked = all.iter().all(|it| it.as_booked);
    let refreshed = Refreshed { checked, changed: all };
    // A script's error stands alone, unless there is a change to report.
    if failed.is_empty() || !refreshed.changed.is_empty() {
        ui.out.emit_long(&refreshed)?;
    }
    // What nobody was told of is told the next time.
    for booking in &read {
        store_and_judge(records, booking);
    }
    let changed = refreshed.changed.len();
    let bookings = plural(checked, "coming booking", "coming bookings");
    ui.out.note(&format!("{bookings} read, {changed} changed."));
    let exit = if all_as_booked { Exit::Done } else { Exit::Failed };
    // The first error is the result of the command, unless a change is.
    let mut failed = failed.into_iter();
    let first = failed.by_ref().take(usize::from(all_as_booked)).next();
    failed.for_each(|it| ui.out.warn(&it.message));
    first.map_or(Ok(exit), Err)
}

/// How a booking, which had the status `was`, differs from what was asked for, or else from what was
/// kept of it; `now` is `None` if the service does not know it any more. A cancellation that was
/// sent from here is no difference.
fn changed(
    records: &Records,
    stored: &KeptBooking,
    was: &Status,
    now: Option<&Booking>,
) -> Option<Changed> {
    let before = stored.fill_in(&stored.booking);
    let status = now.map_or(Status::Other("not found".to_owned()), Booking::status);
    let writes = records.journal().and_then(|it| it.writes(before.id())).unwrap_or_default();
    let cancels = |it: &BookingWrite| it.kind == WriteKind::Cancel.as_str() && it.may_be_done();
    if status == Status::Cancelled && writes.iter().any(cancels) {
        return None;
    }
    // Another read may have stored what is not as booked, and its reader may have told nobody.
    let asked = now.map(|now| compared(records, &stored.wish(), now, false)).unwrap_or_default();
    let differs = |it: &Compared| it.weight != Weight::Choice && it.clause().is_some();
    let booked = if stored.unresolved_key.is_some() || asked.iter().any(differs) {
        stored.wish()
    } else {
        Wish::from_request(before.value())
    };
    let mut found = now.map(|now| compared(records, &booked, now, false)).unwrap_or_default();
    let own = now.map(|now| own_changes(records, now, &found)).unwrap_or_default();
    found.retain(|it| !own.contains_key(it.root()));
    let mut changes = now.map(|now| changes(found, &booked, now)).unwrap_or_default();
    // It may have been moved back.
    let is_as_asked =
        |field: &str| asked.iter().any(|it| it.field == field && it.agreement == Agreement::Same);
    let is_moved = changes.keys().any(|field| !is_as_asked(field));
    if status != *was {
        let change = json!({"from": was.as_str(), "to": status.as_str()});
        changes.insert("status".to_owned(), change);
    }
    (!changes.is_empty()).then(|| Changed {
        id: before.id().to_owned(),
        as_booked: !matches!(status, Status::Other(_)) && status.has_not_ended() && !is_moved,
        changes,
        guest: before.guest(),
        venue: before.venue_name().or_else(|| before.venue_id()),
    })
}

impl Draw for Refreshed {
    fn draw(&self, page: &mut Page) {
        let rows = self.changed.iter().map(|row| {
            let changes = row.changes.iter().map(|(field, change)| change_text(field, change));
            let (tone, word) =
                if row.as_booked { (Tone::Good, "as booked") } else { (Tone::Bad, "changed") };
            vec![
                TableCell::from(row.id.as_str()),
                row.guest.as_deref().unwrap_or_default().into(),
                row.venue.as_deref().unwrap_or_default().into(),
                TableCell::toned(word, tone),
                changes.collect::<Vec<_>>().join(", ").into(),
            ]
        });
        page.table(
            vec!["booking id", "guest", "venue", "result", "changes"],
            rows.collect(),
            vec![],
        );
    }
}
