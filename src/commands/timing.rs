//! `--at` and `--tz`, for all commands that take a time.

use jiff::tz::TimeZone;

use crate::model::when::When;
use crate::model::zone;

/// A required time.
#[derive(clap::Args, Debug)]
pub(crate) struct At {
    /// Time: `2026-12-01 19:30`, `tomorrow 19:30`, `fri 8pm`, `in 3 days 19:30`, or RFC 3339
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    pub(crate) at: When,
    #[command(flatten)]
    pub(crate) zone: Zone,
}

/// The zone of a time without an offset, if no venue determines it.
#[derive(clap::Args, Debug)]
pub(crate) struct Zone {
    /// Time zone if the time has no offset and the venue's zone is unknown, e.g. `Europe/Paris` or `+02:00`
    #[arg(long, value_name = "ZONE", value_parser = zone::zone)]
    pub(crate) tz: Option<TimeZone>,
}
