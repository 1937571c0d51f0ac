pub(crate) mod wait;

use std::time::Duration;

use futures_util::future::join_all;

use super::find::{pick, recorded_status, status};
use super::finish;
use crate::app::Parts;
use crate::app::in_flight::InFlight;
use crate::journal::{KeptBooking, SearchCriteria};
use crate::outcome::{Exit, Result};
use crate::platform::shell;
use crate::service::documents::{Status, id};
use crate::service::time::in_units;
use crate::terminal::view::BookingLine;

/// How long a booking is watched without `--timeout`. A pause expires after 20 minutes.
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// Watch bookings until each ends or needs an answer
///
/// Prints a booking each time it changes; with --json, one document per line. Exits with
/// the code `book` would, of several for the first that is not confirmed. With --until, that status
/// exits with 0. `--until
/// cancelled` keeps watching a confirmed booking, and exits with 8 if it is still confirmed at the
/// timeout. Ends if a booking needs an answer or has an unknown status (15). Until the timeout,
/// waits out rate limits and a service that fails or cannot be reached.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl watch bk_01\n  \
    bookctl watch bk_01 bk_02 --jq '[.id, .status] | @tsv'\n  \
    bookctl watch --all\n  \
    bookctl watch bk_01 --until confirmed --until failed --timeout 5m --json")]
pub(crate) struct Args {
    /// Booking ids, @N for rows of the last list of bookings, or @last
    #[arg(value_name = "BOOKING", value_parser = id)]
    bookings: Vec<String>,
    /// Watch every booking this computer knows that is not final
    #[arg(long, conflicts_with = "bookings")]
    all: bool,
    /// Stop at this status, repeatable
    #[arg(long, value_name = "STATUS", value_parser = status(), ignore_case = true)]
    until: Vec<String>,
}

pub(crate) async fn run(parts: &Parts, args: Args) -> Result<Exit> {
    let Parts { api, records, ui, settings } = parts;
    let until: Vec<String> = args.until.iter().map(|it| recorded_status(it).to_owned()).collect();
    let named = if args.all {
        let named = unfinished(parts, &until)?;
        if named.is_empty() {
            ui.out.note("No booking to watch: all that this computer knows are final.");
        }
        named
    } else if let [] | [_] = args.bookings.as_slice() {
        let named = args.bookings.first().map(String::as_str);
        vec![pick::booking_or_pick(parts, named, |_| true, true).await?]
    } else {
        args.bookings.iter().map(|it| pick::located(records, it)).collect::<Result<_>>()?
    };
    let progress = ui.out.progress("");
    let mut flags: Vec<String> = until.iter().map(|it| format!("--until {it}")).collect();
    flags.extend(settings.timeout.map(|it| format!("--timeout {}s", it.as_secs().max(1))));
    let flags = flags.join(" ");
    let ids: Vec<&str> = named.iter().map(|it| it.id.as_str()).collect();
    let command = match args.all {
        true => shell::command_about("watch --all", &[], &flags),
        false => shell::command_about("watch", &ids, &flags),
    };
    let beside = u32::try_from(named.len()).unwrap_or(u32::MAX);
    let watch = async |mut named: pick::NamedBooking| {
        let id = named.id.clone();
        let known = match named.read.take() {
            Some(Err(error)) if !wait::passes(&error) => return Err(error),
            read => read.and_then(Result::ok),
        };
        let in_flight = |certain: String| {
            let certain = if beside == 1 { certain } else { "nothing was changed".to_owned() };
            api.in_flight.replace(InFlight::Other(certain, command.clone()))
        };
        in_flight(format!("booking {id} was not read, and nothing was changed"));
        let limits = (settings.timeout.unwrap_or(LONGEST), beside);
        let watched = wait::until(api, ui, &id, known, limits, |booking, left, is_new| {
            if is_new {
                let view = finish::booking_view(parts, booking);
                match beside {
                    1 => ui.out.emit_line(&view)?,
                    _ => ui.out.emit_line(&BookingLine(view))?,
                };
                finish::remember_shown(parts, booking);
            }
            let status = booking.status();
            in_flight(format!("booking {id} has status {status}"));
            let left = in_units(left.as_secs());
            progress.say(&format!("{status}; watching for up to {left} more"));
            Ok(is_reached(&status, &until) || ends(&status, &until))
        });
        let booking = watched.await.map_err(|error| pick::not_found(records, ui, &id, error))?;
        let status = booking.status();
        if is_reached(&status, &until) {
            return Ok(Exit::Done);
        }
        if !ends(&status, &until) {
            ui.out.note(&format!(
                "Stopped watching: the time is over, and booking {id} has status {status}. To go on: {}",
                shell::command("watch", &id, &flags)
            ));
            // A confirmed one can still be cancelled.
            return Ok(Exit::Processing);
        }
        finish::warn_of_unknown_status(&api.facts, ui, &booking);
        Ok(booking.exit_of_read())
    };
    let watched = join_all(named.into_iter().map(watch)).await;
    drop(progress);
    let mut exit = Exit::Done;
    let mut failed = None;
    for ended in watched {
        match ended {
            // The first is the result of the command. Others differ by their ids.
            Err(error) if failed.is_none() => failed = Some(error),
            Err(error) => ui.out.warn(&error.message),
            Ok(its) if exit == Exit::Done => exit = its,
            Ok(_) => {}
        }
    }
    failed.map_or(Ok(exit), Err)
}

/// The bookings of this computer of which more is to come.
fn unfinished(parts: &Parts, until: &[String]) -> Result<Vec<pick::NamedBooking>> {
    pick::take_in_received(parts)?;
    let found = parts.records.journal()?.find(&SearchCriteria::default(), None)?.stored.into_iter();
    let found = found.filter(|stored| match stored.booking.status() {
        Status::RequiresAction => true,
        status => !ends(&status, until),
    });
    let id = |stored: KeptBooking| stored.booking.id().to_owned();
    Ok(found.map(|stored| pick::NamedBooking { id: id(stored), read: None }).collect())
}

fn is_reached(status: &Status, until: &[String]) -> bool {
    until.iter().any(|until| until == status.as_str())
}

/// Whether to stop watching. Nothing more comes by itself after a pause, and what follows an
/// unknown status is unknown; a confirmed booking may be cancelled.
fn ends(status: &Status, until: &[String]) -> bool {
    match status {
        Status::Processing => false,
        Status::Confirmed => !until.iter().any(|it| it == "cancelled"),
        _ => true,
    }
}
