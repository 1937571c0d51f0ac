//! The suite from outside: the real binary, the real sandbox, a blank home each, HTTP over loopback, a
//! terminal where people type.
//!
//! Every test stands alone and may run beside all others. Time comes from the sandbox's clock, never from
//! waiting; the only durations are bounds that end a hang.

#![cfg(test)]

mod harness;

mod auth;
mod auth_keyring;
mod book;
mod config;
mod docs;
mod doctor;
mod faults;
mod interrupts;
mod journal;
mod output;
mod pauses;
mod profile;
mod readme;
mod rooms;
mod search;
mod times;
mod walk;
mod walk_look;
mod walk_payment;
mod wire;
mod wrong_input;
