//! The commands that can follow a booking, depending on its status and its provider.

use jiff::Timestamp;
use serde_json::Value;

use super::pause::asked_fields;
use crate::outcome::code::Retry;
use crate::platform::shell;
use crate::service::documents::booking::{Booking, Status};
use crate::service::documents::certainty::Certainty;
use crate::service::mapping::{Dialect, Pause};

/// A note on what bookctl cannot do: only one provider supports changes and cancels at the venue (spec, What the
/// service does).
///
/// Which one that is must be known: from the contract, from the profile, or because the service has said so of this very
/// booking. A default is no reason to claim it.
pub(super) fn limits(booking: &Booking, dialect: &Dialect, certainty: Certainty) -> Option<String> {
    let provider = booking.str("provider")?;
    let is_known = certainty == Certainty::Contract || dialect.names_provider_a();
    let was_said = matches!(
        booking.error_code(),
        Some("cancellation_unsupported" | "modify_unsupported")
    );
    let is_another = was_said || is_known && provider != dialect.provider_a;
    let elsewhere = booking.status() == Status::Confirmed && is_another;
    elsewhere.then(|| format!("{provider} can neither change nor cancel a booking: call the venue"))
}

pub(super) fn commands(
    booking: &Booking,
    dialect: &Dialect,
    now: Timestamp,
    certainty: Certainty,
) -> Vec<String> {
    let id = booking.id();
    let command = |name, flags| shell::command(name, id, flags);
    match booking.status() {
        Status::RequiresAction => answers(id, booking.next_action(), dialect),
        Status::Confirmed
            if booking.is_over(now) || limits(booking, dialect, certainty).is_some() =>
        {
            vec![]
        }
        Status::Confirmed => vec![
            command("modify", "--at WHEN"),
            command("modify", "--party N"),
            command("cancel", ""),
        ],
        Status::Failed | Status::Expired | Status::Cancelled => {
            look_for_another(booking, now).into_iter().collect()
        }
        Status::Processing => vec![command("watch", "")],
        Status::Other(_) => vec![command("show", ""), command("watch", "")],
    }
}

fn answers(id: &str, action: Option<&Value>, dialect: &Dialect) -> Vec<String> {
    let flags = match dialect.pause(action) {
        Pause::Otp => vec!["--otp CODE".to_owned()],
        Pause::Payment => vec![
            "--psp-response @answer.json".to_owned(),
            "--psp-abort".to_owned(),
        ],
        Pause::Other => {
            let asked = asked_fields(action).into_iter();
            let flags = asked.map(|field| format!("-F {}=VALUE", shell::word(&field.name)));
            let flags = flags.collect::<Vec<_>>().join(" ");
            vec![if flags.is_empty() {
                "-F key=VALUE".to_owned()
            } else {
                flags
            }]
        }
    };
    let command = |flags: &String| shell::command("continue", id, flags);
    flags.iter().map(command).collect()
}

/// A search for other slots around the requested time, if booking again is safe.
fn look_for_another(booking: &Booking, now: Timestamp) -> Option<String> {
    let (venue, wanted) = (booking.venue_id()?, booking.str("datetime")?);
    let to_come = wanted.parse::<Timestamp>().is_ok_and(|at| at > now);
    if !to_come || booking.retry() == Retry::AfterCheck {
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
