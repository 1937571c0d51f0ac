//! `--at` and `--tz`, as the verbs that take a time share them.

use jiff::tz::TimeZone;

use crate::model::when::When;
use crate::model::zone;

/// A time that may not be left out.
#[derive(clap::Args, Debug)]
pub(crate) struct At {
    /// Time: `2026-12-01 19:30`, `tomorrow 19:30`, `fri 8pm`, `in 3 days 19:30`, or RFC 3339
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    pub(crate) at: When,
    #[command(flatten)]
    pub(crate) zone: Zone,
}

/// The zone of a time without an offset, where no venue tells it.
#[derive(clap::Args, Debug)]
pub(crate) struct Zone {
    /// Time zone if the time has no offset and the venue's zone is unknown, e.g. `Europe/Paris` or `+02:00`
    #[arg(long, value_name = "ZONE", value_parser = zone::zone)]
    pub(crate) tz: Option<TimeZone>,
}
