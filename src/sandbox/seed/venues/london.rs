//! London.

use super::super::programme::Programme::*;
use super::super::provider::Provider::*;
use super::{Row, row};

pub(super) const VENUES: &[Row] = &[
    row(
        Table,
        "copper_kettle",
        "The Copper Kettle",
        &[A],
        "14 Romilly Street, Soho, London W1D",
        (51.5129, -0.1302),
        2,
        &["british", "soho"],
    ),
    row(
        Transfer,
        "kestrel_airport_cars",
        "Kestrel Airport Cars",
        &[C],
        "Praed Street, Paddington, London W2",
        (51.5168, -0.1738),
        3,
        &["airport transfer", "paddington"],
    ),
];
