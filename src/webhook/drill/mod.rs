//! Tests a consumer with valid, forged, repeated, late, large and many deliveries.

mod check;
mod consumer_state;
mod plan;
mod run;
mod subject;
mod verdict;

pub(crate) use check::Check;
pub(crate) use consumer_state::ConsumerState;
pub(crate) use plan::plan;
pub(crate) use run::run;
pub(crate) use subject::Subject;
pub(crate) use verdict::{Finding, Report, judge};
