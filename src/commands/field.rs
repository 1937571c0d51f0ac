//! `-F` and `-H` as arguments.

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

use crate::client::Call;
use crate::flows::DEFAULT_LIMIT;
pub(crate) use crate::model::field::{Field, body, field, pairs, raw_field};
use crate::outcome::Result;

/// `-F`, for every command whose call has a body.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct ExtraFields {
    /// Add a field without a flag to the request; true, false, null and numbers are typed, anything else is text
    #[arg(short = 'F', long = "field", value_name = "KEY=VALUE", value_parser = field)]
    fields: Vec<Field>,
}

impl ExtraFields {
    /// The fields as an object.
    ///
    /// # Errors
    ///
    /// `usage` (2) if two fields contradict each other.
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

/// How much of a list is read.
#[derive(clap::Args, Debug)]
pub(super) struct Limit {
    /// Show at most this many; pages of the service are read until then, and --json prints them whole
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT as u32, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

impl Limit {
    pub(super) fn get(&self) -> usize {
        self.limit as usize
    }
}
