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
mod calls;
mod changes;
mod command_tree;
mod config;
mod controls;
mod docs;
mod doctor;
mod explained;
mod faults;
mod hostile;
mod interrupts;
mod journal;
mod matrix;
mod output;
mod pauses;
mod peers;
mod profile;
mod readme;
mod refusals;
mod rooms;
mod search;
mod sessions;
mod times;
mod walk;
mod walk_look;
mod walk_payment;
mod watching;
mod wire;
mod wrong_input;
