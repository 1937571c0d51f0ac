//! PostgreSQL databases: where they are, and statements in transactions that a lost connection does not leave in doubt.
#![cfg_attr(not(feature = "postgres"), allow(dead_code))]

mod address;
#[cfg(feature = "postgres")]
mod connection;
#[cfg(feature = "postgres")]
mod driver;
mod failure;
#[cfg(not(feature = "postgres"))]
mod left_out;
#[cfg(feature = "postgres")]
mod session;

pub(crate) use address::Address;
#[cfg(feature = "postgres")]
pub(crate) use connection::{Database, Login};
pub(crate) use failure::Failure;
#[cfg(not(feature = "postgres"))]
pub(crate) use left_out::{Database, Guard, Login};
#[cfg(feature = "postgres")]
pub(crate) use session::Guard;
