//! The booking service as the sandbox serves it, held against its specification: one test for
//! every statement of it, over plain HTTP. `statements.toml` says which test proves what.

#![cfg(test)]

#[expect(dead_code, reason = "the tests from outside use all of it")]
#[path = "../e2e/harness/http.rs"]
mod http;

mod answer;
mod authentication;
mod controls;
mod controls_described;
mod crashes;
mod described;
mod endpoints;
mod errors;
mod events;
mod limits;
mod payments;
mod races;
mod receiver;
mod registry;
mod scenarios;
mod schema;
mod service;
mod settled;
mod settled_later;
mod shapes;
mod states;
mod statuses;
