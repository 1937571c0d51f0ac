//! Arguments that several commands have: a place, a time, fields of the request, a limit.

use std::time::Duration;

use jiff::tz::TimeZone;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

use crate::app::Records;
use crate::app::pages::DEFAULT_LIMIT;
use crate::outcome::Result;
use crate::service::client::{Call, SearchLocation};
use crate::service::documents::field::{Field, body, field};
use crate::service::time::retention::Retention;
use crate::service::time::{duration, zone};

/// How long a person waits for a booking that is processing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// Wait while a booking is processing [default: 2m]
    #[arg(id = "wait", long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = "2m", value_parser = duration::duration)]
    pub(crate) longest: Option<Duration>,
}

/// Parses a place: a city or a district, or `LAT,LON`.
pub(crate) fn near(text: &str) -> Result<SearchLocation, String> {
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    let point = text.split_once(',');
    let Some((latitude, longitude)) = point.filter(|it| is_number(it.0) && is_number(it.1)) else {
        return Ok(SearchLocation::Near(text.to_owned()));
    };
    Ok(SearchLocation::At {
        latitude: degrees(latitude, 90.0)?,
        longitude: degrees(longitude, 180.0)?,
    })
}

pub(crate) fn degrees(text: &str, most: f64) -> Result<f64, String> {
    let degrees = text.trim().parse::<f64>().ok();
    let degrees = degrees.filter(|degrees| degrees.abs() <= most);
    degrees.ok_or_else(|| format!("must be degrees from -{most} to {most}, e.g. 51.5072"))
}

#[derive(clap::Args, Debug)]
pub(crate) struct Zone {
    /// Time zone for times if the venue's is not known
    #[arg(long, value_name = "ZONE", value_parser = zone::zone)]
    pub(crate) tz: Option<TimeZone>,
}

/// `-F`, for every command whose call has a body.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct ExtraFields {
    /// Add a field to the request: JSON value or text
    #[arg(short = 'F', long = "field", value_name = "KEY=VALUE", value_parser = field)]
    fields: Vec<Field>,
}

impl ExtraFields {
    /// The fields as an object, or `usage` (2) if two of them contradict each other.
    pub(crate) fn body(self) -> Result<Map<String, Value>> {
        body(self.fields)
    }

    pub(crate) fn add_to(self, call: Call) -> Result<Call> {
        call.with_fields(&self.body()?)
    }
}

/// Parses `Name: value`, as HTTP permits it.
pub(crate) fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("must be 'Name: value'")?;
    let (name, value) = (name.trim(), value.trim());
    HeaderName::try_from(name).map_err(|_| "must be 'Name: value'")?;
    HeaderValue::try_from(value).map_err(|_| "the value is not valid in a header")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[derive(clap::Args, Debug, Default)]
pub(crate) struct Limit {
    /// Show at most this many [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
}

impl Limit {
    pub(crate) fn get(&self) -> usize {
        self.limit.map_or(DEFAULT_LIMIT, |it| it as usize)
    }
}

/// Settings of the journal for a booking request. Hidden: a setting and an error name them.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct JournalFlags {
    /// Keep guests' data on this computer for this long
    #[arg(long, hide = true, value_name = "DURATION", value_parser = Retention::parse)]
    retention: Option<Retention>,
    /// Accept requests made with another key of this organization
    #[arg(long, hide = true)]
    same_organization: bool,
}

impl JournalFlags {
    /// Opens the journal, so only once the rest of the input is known to be usable.
    pub(crate) fn apply(self, records: &Records) -> Result<()> {
        if self.same_organization {
            records.journal()?.scope.takes_any_account.set(true);
        }
        if let Some(retention) = self.retention {
            records.journal()?.scope.retention.set(retention);
        }
        Ok(())
    }
}
