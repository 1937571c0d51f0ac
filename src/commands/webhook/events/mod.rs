//! `bookctl webhook events`: what listeners received on this machine.

mod list;
mod replay;
mod show;
mod since;

use clap::Subcommand;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::app::Context;
use crate::outcome::{Code, Error, Exit, Result};
use crate::webhook::{EventRow, State, Webhooks};

/// Look at the events that `webhook listen` received, and send them again
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Replay(replay::Args),
}

pub(super) async fn run(context: &Context, command: Command) -> Result<Exit> {
    match command {
        Command::List(args) => list::run(context, args),
        Command::Show(args) => show::run(context, &args),
        Command::Replay(args) => replay::run(context, args).await,
    }
}

/// The event with this id (6 where there is none).
fn find(webhooks: &Webhooks, id: &str) -> Result<EventRow> {
    webhooks.event(id)?.ok_or_else(|| {
        let shown = id.escape_debug();
        Error::new(
            Code::UnknownEvent,
            format!("no event {shown} of this service was received here"),
        )
        .hint("bookctl webhook events list")
    })
}

fn moment(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// An event without its content.
fn event_json(row: &EventRow) -> Value {
    let mut event = json!({
        "event_id": row.event.id,
        "type": row.event.kind,
        "booking_id": row.event.booking,
        "status": row.event.status,
        "received_at": moment(row.received_at),
        "state": row.state.as_str(),
        "duplicates": row.duplicates,
        "attempts": row.attempts,
    });
    if let Some(next) = row.next_at.filter(|_| row.state == State::Waiting) {
        event["next_attempt_at"] = json!(moment(next));
    }
    event
}
