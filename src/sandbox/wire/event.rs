//! The webhook event document ("Events", 4).

use serde::Serialize;

use super::booking::BookingSummary;
use super::moment::Moment;

/// An event as it is delivered.
#[derive(Serialize)]
pub(crate) struct EventDocument<'a> {
    pub(crate) id: String,
    pub(crate) object: &'static str,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) created_at: Moment,
    pub(crate) data: EventData<'a>,
}

/// What it is about.
#[derive(Serialize)]
pub(crate) struct EventData<'a> {
    pub(crate) object: &'a BookingSummary<'a>,
}
