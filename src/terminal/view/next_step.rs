//! The commands that can follow a booking, depending on its status and its provider.

use jiff::Timestamp;
use serde_json::Value;

use super::pause::requested_fields;
use crate::outcome::code::Retry;
use crate::platform::shell;
use crate::service::documents::booking::{Booking, Status};
use crate::service::documents::certainty::Certainty;
use crate::service::documents::venue::Venue;
use crate::service::mapping::{Dialect, Pause};

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

/// Why a booking can neither be changed nor cancelled, if the service or its provider says so.
pub(super) fn limits(
    booking: &Booking,
    venue: Option<&Venue>,
    dialect: &Dialect,
    certainty: Certainty,
) -> Option<String> {
    let provider = booking.str("provider")?;
    let was_said =
        matches!(booking.error_code(), Some("cancellation_unsupported" | "modify_unsupported"));
    let known = restriction(provider, venue, dialect, certainty);
    let limits = known.or_else(|| was_said.then(|| call_the_venue(provider, venue)));
    limits.filter(|_| booking.status() == Status::Confirmed)
}

/// `is_limited`: whether it can neither be changed nor cancelled.
pub(super) fn commands(
    booking: &Booking,
    dialect: &Dialect,
    now: Timestamp,
    is_limited: bool,
) -> Vec<String> {
    let id = booking.id();
    let command = |name, flags| shell::command(name, id, flags);
    match booking.status() {
        Status::RequiresAction => answers(booking, dialect),
        Status::Confirmed if booking.is_over(now) => vec![command("book --like", "--at WHEN")],
        Status::Confirmed if is_limited => vec![],
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

fn answers(booking: &Booking, dialect: &Dialect) -> Vec<String> {
    let (id, action) = (booking.id(), booking.next_action());
    let command = |flags: &str| shell::command("continue", id, flags);
    let flags: &[&str] = match dialect.pause(action) {
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
