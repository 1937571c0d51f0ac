//! `--at` and `--tz`, for all commands that take a time.

use jiff::tz::TimeZone;

use crate::model::when::When;
use crate::model::zone;

/// A time, now unless it is given.
#[derive(clap::Args, Debug)]
pub(crate) struct At {
    /// Time: `2026-12-01 19:30`, `tomorrow 19:30`, `fri 8pm`, `in 3 days 19:30`, or RFC 3339 [default: now]
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    at: Option<When>,
    #[command(flatten)]
    pub(crate) zone: Zone,
}

impl At {
    pub(crate) fn when(&self) -> When {
        self.at.clone().unwrap_or_else(When::now)
    }
}

/// The zone of a time without an offset, if no venue determines it.
#[derive(clap::Args, Debug)]
pub(crate) struct Zone {
    /// Time zone if the time has no offset and the venue's zone is unknown, e.g. `Europe/Paris` or `+02:00`
    #[arg(long, value_name = "ZONE", value_parser = zone::zone)]
    pub(crate) tz: Option<TimeZone>,
}
