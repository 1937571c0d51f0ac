//! PostgreSQL databases: where they are, and statements in transactions that a lost connection does not leave in doubt.
#![cfg_attr(not(feature = "postgres"), allow(dead_code))]

mod address;
#[cfg(feature = "postgres")]
mod connection;
mod failure;
#[cfg(not(feature = "postgres"))]
mod left_out;

pub(crate) use address::Address;
#[cfg(feature = "postgres")]
pub(crate) use connection::{Database, Login};
pub(crate) use failure::Failure;
#[cfg(not(feature = "postgres"))]
pub(crate) use left_out::{Database, Login};
