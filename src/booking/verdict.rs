//! What each command makes of how a booking compares with what was asked for: one table.
//!
//! | comparison | create, row, resume | change | read |
//! |---|---|---|---|
//! | another venue or guest | 16, not recorded | 16 | warning |
//! | another provider, end user, payment | 16, recorded and marked | modify 16, else warning | warning |
//! | another time, party | 16, recorded and marked | modify 7, else warning | warning |
//! | that, but its `last_modification` says that it was the same | done, note | modify 7 | – |
//! | not understood | 16 with the setting, recorded and marked | modify 7 with the setting, else warning | warning |
//! | another seating, another scalar | done, warning | modify 7, else warning | warning |
//! | not shown | done, note with the setting | modify `change_not_shown`, unless a new `last_modification` proves it | – |

use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use crate::app::in_flight::show_command;
use crate::app::{Facts, Records, Ui};
use crate::json::plain;
use crate::outcome::{Code, Error, Result};
use crate::service::documents::{
    Agreement, Booking, Compared, Status, VenueClock, Weight, Wish, compare,
};
use crate::service::mapping::Mapping;

/// The fields that a modify changes (spec, Bookings).
pub(crate) const MODIFIED: [&str; 3] = ["datetime", "party_size", "seating_preference"];

/// What a command that made a booking makes of it.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Why the booking is not the one that was asked for (16).
    pub(crate) refusal: Option<String>,
    /// Whether that is because it is at another venue or for another guest.
    pub(crate) is_another: bool,
    /// The setting of a profile that would read what was not understood.
    pub(crate) setting: Option<&'static str>,
    /// Why the booking could not be stored.
    pub(crate) unstored: Option<Error>,
    warnings: Vec<String>,
    unshown: Vec<String>,
}

impl Compared {
    /// How the booking differs, if it does.
    pub(super) fn clause(&self) -> Option<String> {
        let (field, wanted) = (&self.field, &self.wanted);
        match &self.agreement {
            Agreement::Differs(text) => Some(format!("{field} is {text}, not {wanted}")),
            Agreement::NotUnderstood(text) => {
                Some(format!("{field} is `{text}`, which cannot be compared with {wanted}"))
            }
            Agreement::Same | Agreement::NotShown => None,
        }
    }

    /// The field of the request that it is, or is in.
    pub(super) fn root(&self) -> &str {
        self.field.split('.').next().unwrap_or_default()
    }

    pub(super) fn is_another(&self) -> bool {
        self.weight == Weight::Identity && matches!(self.agreement, Agreement::Differs(_))
    }
}

/// Compares a booking with the request, on the venue's clock if a search has shown it.
pub(crate) fn compared(
    records: &Records,
    wish: &Wish,
    booking: &Booking,
    is_first: bool,
) -> Vec<Compared> {
    let venue = || booking.venue_id().or_else(|| wish.text("venue_id"));
    let of_venue = || records.known_venue(&venue()?)?.timezone();
    let of_slot = || records.known_slot(&wish.text("availability_id")?)?.slot.offset();
    let zone = of_venue().or_else(|| of_slot().map(TimeZone::fixed));
    let clock = VenueClock { zone, is_certain: records.has_local_times() };
    compare(wish, booking, &clock, is_first)
}

/// The table's first column. `may_be_modified`: whether the booking may be older than this.
pub(crate) fn of_create(booking: &Booking, found: &[Compared], may_be_modified: bool) -> Verdict {
    let mut verdict = Verdict::default();
    for it in found {
        if it.agreement == Agreement::NotShown {
            verdict.unshown.push(it.field.clone());
        }
        let Some(clause) = it.clause() else { continue };
        if it.weight == Weight::Choice {
            verdict.warnings.push(clause);
        } else if it.was_same && may_be_modified && it.weight == Weight::Terms {
            verdict.warnings.push(format!("{clause}: it was changed since"));
        } else if !verdict.is_another {
            verdict.is_another = it.is_another();
            let is_misread = matches!(it.agreement, Agreement::NotUnderstood(_));
            verdict.setting = is_misread.then(|| setting(booking, it));
            if verdict.refusal.is_none() || verdict.is_another {
                verdict.refusal = Some(clause);
            }
        }
    }
    verdict
}

/// The setting that reads a field which was not understood: a time that was read lacks its offset,
/// which an expression adds where it is not that of the venue's zone.
pub(super) fn setting(booking: &Booking, found: &Compared) -> &'static str {
    let has_no_offset = booking.time.read().is_some_and(|time| time.instant.is_none());
    if found.field == "datetime" && has_no_offset && !found.has_zone {
        "local_times=true"
    } else {
        "read.booking=EXPRESSION"
    }
}

/// The verdict on a booking that the journal says was asked for.
pub(crate) fn of_known(records: &Records, wish: &Wish, booking: &Booking) -> Verdict {
    of_create(booking, &compared(records, wish, booking, false), true)
}

/// The error (16) for a booking that is not the one that was asked for.
pub(crate) fn refusal(facts: &Facts, booking: &Booking, verdict: &Verdict) -> Option<Error> {
    let (id, status) = (booking.id(), booking.status());
    let clause = verdict.refusal.as_ref()?;
    let is = if verdict.setting.is_some() { "may not be" } else { "is not" };
    let what = format!("booking {id} ({status}) {is} the one that was asked for: {clause}");
    let hint = match verdict.setting.map(|setting| facts.mapping().set_command(setting)) {
        Some(set) => format!("set how the service writes it: {set}"),
        None => format!("see the booking: {}", show_command(id)),
    };
    Some(Error::new(Code::OutcomeUnknown, what).hint(hint).body(booking.document.clone()))
}

/// Each field that a read shows otherwise than known, with the values `from` and `to`.
pub(super) fn changes(mut found: Vec<Compared>, known: &Wish, now: &Booking) -> Map<String, Value> {
    found.retain(|it| it.weight != Weight::Choice || it.field == "seating_preference");
    let change = |it: Compared| {
        let (Agreement::Differs(text) | Agreement::NotUnderstood(text)) = it.agreement else {
            return None;
        };
        let to = now.value().get(&it.field).cloned().unwrap_or(text.into());
        let change = json!({"from": known.get(&it.field), "to": to});
        Some((it.field, change))
    };
    found.into_iter().filter_map(change).collect()
}

/// Says what a booking that was made shows otherwise, or not at all. `row` names a row of a batch.
pub(crate) fn tell(facts: &Facts, ui: &Ui, verdict: &Verdict, row: &str) {
    for clause in &verdict.warnings {
        ui.out.warn(&format!("{row}in the booking {clause}"));
    }
    if let Some(unshown) = verdict.unshown_sentence(facts.mapping()) {
        ui.out.note(&format!("{row}{unshown}"));
    }
}

impl Verdict {
    pub(super) fn unshown_sentence(&self, mapping: &Mapping) -> Option<String> {
        let fields = self.unshown.join(", ");
        let set = mapping.set_command("read.booking=EXPRESSION");
        (!fields.is_empty()).then(|| format!("Not shown in the response: {fields} (map it: {set})"))
    }
}

/// Whether a response is certainly a booking: it has an id, a status and the specified `object`, or
/// a known status and something to compare with the request. An envelope may have an id, a status
/// and a provider of its own.
pub(crate) fn is_booking(records: &Records, wish: &Wish, booking: &Booking) -> bool {
    let object = booking.value().get("object");
    if object.is_some_and(|it| !it.is_null() && !plain(it).to_lowercase().contains("error")) {
        return true;
    }
    let is_compared = |it: &Compared| {
        let is_telling = matches!(it.weight, Weight::Identity | Weight::Terms);
        is_telling && it.agreement != Agreement::NotShown
    };
    let found = compared(records, wish, booking, true);
    !matches!(booking.status(), Status::Other(_)) && found.iter().any(is_compared)
}

/// The booking of a response, if it is certainly one.
pub(crate) fn certain(records: &Records, wish: &Wish, booking: Booking) -> Result<Booking> {
    if is_booking(records, wish, &booking) {
        return Ok(booking);
    }
    let why = "the response has an id and a status, and shows nothing else of a booking";
    Err(Error::new(Code::UnexpectedAnswer, why).body(booking.document))
}
